#!/bin/sh
# Packs a run with cuts as the sample of test_crash_run.py. It was
#   make experiment DEVICE=emmc-5.0 MODE=delete ROWS=100 N=5 PROBES=none CRASH=power CUTS=40
# usage, from the root of the repository: tests/analysis/record-crash-sample.sh RUN_DIR
set -eu
tar -C "$1" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$(dirname "$0")/sample-crash.tar.xz" \
	cell.json host.json raw crash
