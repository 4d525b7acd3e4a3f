#!/bin/sh
# Records key-values.tar.xz: databases of LevelDB, LMDB and RocksDB, 50 rows of 6000 bytes each, whose driver
# was killed in a run. Needs the drivers of tests/driver (make -C workloads sanitized-engine-NAME).
# usage: tests/analysis/record-key-values.sh
set -eu
tests=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/key-values"
for engine in leveldb lmdb rocksdb; do
	driver=$tests/../../workloads/build/test/driver-engine-$engine
	sync='--sync full'
	[ $engine != lmdb ] || sync=
	set -- --database "$work/key-values/$engine" --rows 50 --value-size 6000
	"$driver" populate "$@"
	# shellcheck disable=SC2086  # two words or none
	timeout -s KILL 1 "$driver" run "$@" $sync --output-dir "$work/$engine" --workload kv --n 100000 \
		--pace-ns 5000000 >"$work/said" || [ $? = 137 ]
done
rm "$work"/key-values/*/LOG*
tar -C "$work" --owner=0 --group=0 -cJf "$tests/key-values.tar.xz" key-values
