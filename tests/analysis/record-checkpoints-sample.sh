#!/bin/sh
# Packs a run whose WAL is checkpointed within transactions and at the close, as the sample of
# test_causes_recorded.py. It was
#   make experiment FS=f2fs MODE=wal WAL_AUTOCHECKPOINT=50 ROWS=200 N=30
# usage, from the root of the repository: tests/analysis/record-checkpoints-sample.sh RUN_DIR
set -eu
tar -C "$1" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$(dirname "$0")/sample-checkpoints.tar.xz" \
	cell.json host.json raw twin
