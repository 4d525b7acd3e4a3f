#!/bin/sh
# Runs the cells of samples/ again, small ones, and packs each run with what was written to its device
# (raw/content.zst). usage, from the root of the repository: tests/analysis/record-content-samples.sh
set -eu
here=$(dirname "$0")/samples
# record NAME VARIABLE=VALUE...
record() {
	name=$1
	shift
	make experiment ROWS=60 N=8 "$@"
	tar -C "$(realpath results/latest)" --transform 's,^,run/,' --owner=0 --group=0 \
		-cJf "$here/$name.tar.xz" cell.json host.json raw twin
}
record ext4-ordered-delete FS=ext4-ordered MODE=delete
record ext4-journal-truncate FS=ext4-journal MODE=truncate
record ext4-writeback-wal FS=ext4-writeback MODE=wal
record f2fs-delete FS=f2fs MODE=delete
record f2fs-wal FS=f2fs MODE=wal
record ext4-ordered-wal-galaxy-nexus FS=ext4-ordered MODE=wal DEVICE=galaxy-nexus
