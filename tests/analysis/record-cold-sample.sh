#!/bin/sh
# Packs a run as the sample of test_reads.py: it reads its database and F2FS's nodes from the device. Made with
#   make experiment FS=f2fs MODE=wal WORKLOAD=kv CACHE=cold ROWS=1000 N=20
# usage, from the root of the repository: tests/analysis/record-cold-sample.sh RUN_DIR
set -eu
run=$(realpath "$1")
tar -C "$run" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$(dirname "$0")/sample-cold.tar.xz" \
	cell.json host.json raw twin
