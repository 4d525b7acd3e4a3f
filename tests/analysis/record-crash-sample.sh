#!/bin/sh
# Packs a run with cuts as a sample: `crash` is of test_crash_run.py, and was
#   make experiment DEVICE=emmc-5.0 MODE=delete ROWS=100 N=5 PROBES=none CRASH=power CUTS=40
# `kills` is of test_killed_run.py, and was
#   make experiment MODE=wal ROWS=1000 N=5 PROBES=none CRASH=process CUTS=30
# usage, from the root of the repository: tests/analysis/record-crash-sample.sh RUN_DIR crash|kills
set -eu
tar -C "$1" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$(dirname "$0")/sample-$2.tar.xz" \
	cell.json host.json raw crash
