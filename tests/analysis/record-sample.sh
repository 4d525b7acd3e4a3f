#!/bin/sh
# Packs a run as sample-NAME.tar.xz; of f2fs-wal it writes the golden files of test_sample.py again, which are
# looked at before they are committed. Each sample is a run of `make experiment` with
#   f2fs-wal      FS=f2fs MODE=wal N=100 ROWS=1000
#   flash-wal     DEVICE=emmc-5.0 FS=ext4-ordered MODE=wal ROWS=100 N=20
#   checkpoints   FS=f2fs MODE=wal WAL_AUTOCHECKPOINT=50 ROWS=200 N=30
#   cold          FS=f2fs MODE=wal WORKLOAD=kv CACHE=cold ROWS=1000 N=20
#   nojournal     FS=ext4-nojournal MODE=delete N=8 ROWS=1000
#   crash         DEVICE=emmc-5.0 MODE=delete ROWS=100 N=5 PROBES=none CRASH=power CUTS=40
#   kills         MODE=wal ROWS=1000 N=5 PROBES=none CRASH=process CUTS=30
#   faults        FS=ext4-ordered DEVICE=emmc-5.0 MODE=delete SYNC=extra ROWS=1000 N=5 PROBES=none CRASH=fault
#                 DEVICE_FAULTS=corrupt:5,eio-write:5,corrupt:2,corrupt:44
#   crash-writers DEVICE=emmc-5.0 MODE=wal WRITERS=2 BUSY_TIMEOUT=5000 PACE=20/s ROWS=1000 N=20 PROBES=none
#                 CRASH=power CUTS=40
#   crash-watched DEVICE=emmc-5.0 MODE=delete ROWS=100 N=3 CRASH=power CUTS=30
#   crash-lines   ENGINE=ssl LOG_MEDIUM=pcm DIRTY_PAGES=4 DEVICE=emmc-5.0 ROWS=100 N=3 CRASH=power CUTS=30
#   crash-trace   WORKLOAD=trace FILE=tests/analysis/samples/crash.trace DEVICE=emmc-5.0 MODE=delete PROBES=none
#                 CRASH=power CUTS=40
#   databases     WORKLOAD=trace MODE=wal CHECKPOINT_EVERY=7 FILE=three.trace, which has 90 transactions, one after
#                 another of each of three files, every tenth a batch of an INSERT and an UPDATE, the others an
#                 INSERT of 1.5 KiB
# usage, from the root of the repository: tests/analysis/record-sample.sh NAME RUN_DIR
#        or, for the golden files only:   tests/analysis/record-sample.sh f2fs-wal
set -eu
sample=$(dirname "$0")/sample-$1.tar.xz
if [ $# -gt 1 ]; then
	set -- "$1" "$2" cell.json host.json raw
	for part in twin crash; do
		if [ -d "$2/$part" ]; then set -- "$@" "$part"; fi
	done
	run=$(realpath "$2")
	name=$1
	shift 2
	tar -C "$run" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$sample" "$@"
	set -- "$name"
fi
if [ "$1" != f2fs-wal ]; then exit; fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkdir "$folder/f2fs-wal"
tar -C "$folder/f2fs-wal" -xJf "$sample"
python3 -m analysis --quiet "$folder/f2fs-wal/run"
golden=$(dirname "$0")/golden
mkdir -p "$golden"
cp "$folder/f2fs-wal/run/summary.json" "$golden/"
for table in operations phases sync_counts blocks flags; do
	cp "$folder/f2fs-wal/run/tables/$table.csv" "$golden/"
done
