#!/bin/sh
# Packs a run of a trace of three files, in WAL mode with checkpoints within it, as the sample of
# test_databases.py. It was
#   make experiment WORKLOAD=trace MODE=wal CHECKPOINT_EVERY=7 FILE=three.trace
# with 90 transactions, one after another of each file, every tenth a batch of an INSERT and an UPDATE, the others
# an INSERT of 1.5 KiB.
# usage, from the root of the repository: tests/analysis/record-databases-sample.sh RUN_DIR
set -eu
tar -C "$1" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$(dirname "$0")/sample-databases.tar.xz" \
	cell.json host.json raw twin
