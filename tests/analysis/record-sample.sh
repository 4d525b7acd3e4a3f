#!/bin/sh
# Packs a run as the sample of test_sample.py and writes its golden files again; look at the
# difference before it is committed. The sample was made with
#   make experiment FS=f2fs MODE=wal N=100 ROWS=1000
# usage, from the root of the repository: tests/analysis/record-sample.sh RUN_DIR
#        or, for the golden files only:   tests/analysis/record-sample.sh
set -eu
here=$(dirname "$0")
if [ $# -gt 0 ]; then
	run=$(realpath "$1")
	tar -C "$run" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$here/sample-f2fs-wal.tar.xz" \
		cell.json host.json raw twin
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkdir "$folder/f2fs-wal"
tar -C "$folder/f2fs-wal" -xJf "$here/sample-f2fs-wal.tar.xz"
python3 -m analysis --quiet "$folder/f2fs-wal/run"
mkdir -p "$here/golden"
cp "$folder/f2fs-wal/run/summary.json" "$here/golden/"
for table in operations phases sync_counts blocks flags; do
	cp "$folder/f2fs-wal/run/tables/$table.csv" "$here/golden/"
done
