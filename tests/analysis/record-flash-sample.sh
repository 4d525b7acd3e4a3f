#!/bin/sh
# Packs a run on a flash device, which logs itself, as the sample of test_device_log.py. It was
#   make experiment DEVICE=emmc-5.0 FS=ext4-ordered MODE=wal ROWS=100 N=20
# usage, from the root of the repository: tests/analysis/record-flash-sample.sh RUN_DIR
set -eu
tar -C "$1" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$(dirname "$0")/sample-flash-wal.tar.xz" \
	cell.json host.json raw twin
