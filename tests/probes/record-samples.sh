#!/bin/sh
# Record tests/probes/samples/ again: each probe's own lines, from one run of all probes over
# the same small work on ext4 and on F2FS, each on a new null_blk device (2 ms a command).
# Run it on a board, as root; it makes and removes its own devices:
#   tests/probes/record-samples.sh [output folder]
# TX_COMMAND: a command that calls the driver's marks; without it tx is left out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
probes=$here/../../probes
out=${1:-$here/samples}
tx=${TX_COMMAND:-}
work=$(mktemp -d)
nullb=/sys/kernel/config/nullb
events="sync block flush jbd2 checkpoint writeback"
tracer=

clean() {
	[ -z "$tracer" ] || kill -INT "$tracer" 2>/dev/null || true
	for fs in ext4 f2fs; do
		umount "$work/$fs" 2>/dev/null || true
		if [ -d "$nullb/sample-$fs" ]; then
			echo 0 >"$nullb/sample-$fs/power"
			rmdir "$nullb/sample-$fs"
		fi
	done
	rm -rf "$work"
}
trap clean EXIT

make_fs() { # name, options of mkfs
	name=$1
	device=$nullb/sample-$name
	mkdir "$device"
	echo 1 >"$device/memory_backed"
	echo 256 >"$device/size"
	echo 16 >"$device/cache_size"
	echo 2 >"$device/irqmode"
	echo 2000000 >"$device/completion_nsec"
	echo 1 >"$device/submit_queues"
	echo 1 >"$device/hw_queue_depth"
	echo 1 >"$device/power"
	shift
	"mkfs.$name" -q "$@" "/dev/sample-$name" >/dev/null
	mkdir "$work/$name"
	mount -t "$name" "/dev/sample-$name" "$work/$name"
}

exercise() { # folder: one of each way to ask for a sync, then a little writeback
	dd if=/dev/zero of="$1/fsync.db" bs=4k count=2 conv=fsync 2>/dev/null
	for _ in 1 2; do
		dd if=/dev/zero of="$1/fdatasync.db-wal" bs=4k count=1 oflag=append conv=notrunc 2>/dev/null
		sync -d "$1/fdatasync.db-wal"
	done
	dd if=/dev/zero of="$1/dsync.db" bs=4k count=2 oflag=dsync 2>/dev/null
	fio --name=ring --filename="$1/ring.db" --rw=write --bs=4k --size=12k \
		--ioengine=io_uring --fdatasync=1 >/dev/null
	sync "$1"
	dd if=/dev/zero of="$1/dirty.db" bs=4k count=16 2>/dev/null
	sync -f "$1"
}

modprobe ext4
modprobe f2fs
modprobe null_blk nr_devices=0
make_fs ext4 -b 4096 -E lazy_itable_init=0,lazy_journal_init=0
make_fs f2fs
devices=$(cat /sys/block/sample-ext4/dev /sys/block/sample-f2fs/dev)

if [ -n "$tx" ]; then events="$events tx"; fi
for event in frame $events; do cat "$probes/$event.bt"; done >"$work/probes.bt"
__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace "$work/probes.bt" >"$work/probes.txt" &
tracer=$!
until grep -q __BPFTRACE_NOTIFY_PROBES_ATTACHED "$work/probes.txt"; do
	kill -0 "$tracer"
	sleep 0.2
done
sync
kill -USR1 "$tracer"
sleep 0.5
exercise "$work/ext4"
exercise "$work/f2fs"
if [ -n "$tx" ]; then $tx; fi
umount "$work/f2fs"
kill -INT "$tracer"
wait "$tracer"
tracer=

mkdir -p "$out"
sed -n '/^attached/,$p' "$work/probes.txt" >"$work/window.txt"
for event in $events; do
	if [ "$event" = tx ]; then
		grep "^tx	" "$work/window.txt" | head -20 >"$out/tx.txt"
		continue
	fi
	for device in $devices; do
		grep "^$event	" "$work/window.txt" | grep "	$device\(	\|$\)" | head -20 || true
	done >"$out/$event.txt"
done
grep -E '^(attached|detached)	' "$work/window.txt" >"$out/frame.txt"
wc -l "$out"/*.txt
