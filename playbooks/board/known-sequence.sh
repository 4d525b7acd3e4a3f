#!/bin/sh
# Make a known number of writes and syncs under the probes, in place of run-cell.sh; commitpath compares
# what the probes recorded (analysis/instrument/probe_selftest.py). Nothing else may use the device, but its
# disk may be used.
#
# Reads cell.env; starts watching unless it is on already. Leaves raw/probes.bin, and in raw/known/:
#
#   files            a line for each file: inode, pages written, fsyncs, fdatasyncs, syncs by O_DSYNC, name
#   devices          device numbers of the disk and of the filesystem
#   window           seconds since boot, before the first and after the last
#   stat.begin, .end        the device's /sys/class/block/<device>/stat then
#   counters.begin, .end    the filesystem's own counters then, a name and a number a line
# and in raw/board/ queue.txt with the disk's write_cache; for a lab board covariates.json, and device.sh's
# description.
set -eu
folder=/run/commitpath
raw=$folder/raw
known=$raw/known
cd "$folder"
. ./cell.env
# shellcheck source=/dev/null
. "./filesystems/$FS_TYPE.sh"
# without timing, as in the preparation, no call would wait; a lab board's device has its own
sh device.sh timing
[ -e watch.env ] || sh watch.sh start
mkdir "$known"
at=$MOUNTPOINT/known
own=/sys/class/block/$DEVICE_NAME
disk=$(readlink -f "$own")
[ -d "$disk/queue" ] || disk=${disk%/*}

write() { dd if=/dev/zero bs=4k "$@" 2> /dev/null; }
note() { # NAME PAGES FSYNCS FDATASYNCS DSYNCS
  echo "$(stat -c %i "$at/$1") $2 $3 $4 $5 $1" >> "$known/files"
}
edge() { # begin | end FOLDER: when the device is idle
  sync
  until awk '{ exit $1 + $2 > 0 }' "$own/inflight"; do sleep 0.1; done
  sleep 0.5
  awk '{ print $1 }' /proc/uptime >> "$known/window"
  cat "$own/stat" > "$known/stat.$1"
  [ ! -e covariates.py ] || python3 covariates.py "$@"
  counters > "$known/counters.$1"
  sleep 0.5
}

mkdir "$at"
# bin: the only place of /run from which programs run
mkdir bin/known
cp "$(command -v dd)" bin/known/driver
cat "$disk/dev" "$own/dev" > "$known/devices"
edge begin

write of="$at/fsync" count=4 conv=fsync
note fsync 4 1 0 0
for _ in 1 2 3; do write of="$at/fdatasync" count=1 oflag=append conv=notrunc,fdatasync; done
note fdatasync 3 0 3 0
# of data with checksums a filesystem may write direct I/O through the page cache
: > "$at/direct"
chattr +C "$at/direct" 2> /dev/null || :
# by direct I/O, after which a sync has nothing to write and flushes the device's cache
dd if=/dev/zero of="$at/direct" bs=64k count=1 conv=fsync 2> /dev/null
dd if=/dev/zero of="$at/direct" bs=64k count=1 oflag=direct conv=notrunc 2> /dev/null
sync -d "$at/direct"
note direct 16 1 1 0
# pages that are not adjacent
for page in 1 3 5; do write of="$at/holes" count=1 seek=$page conv=notrunc; done
sync "$at/holes"
note holes 3 1 0 0
# by a flusher thread
write of="$at/behind" count=16
sync -f "$at"
note behind 16 0 0 0
# the driver's threads are recognised by their name
bin/known/driver if=/dev/zero of="$at/dsync" bs=4k count=4 oflag=dsync 2> /dev/null
note dsync 4 0 0 4
# concurrently: each waits for the device while the others begin
for n in 1 2 3 4; do
  for _ in 1 2 3 4 5; do write of="$at/at-once-$n" count=1 conv=notrunc,fsync; done &
done
wait
for n in 1 2 3 4; do note "at-once-$n" 5 5 0 0; done
sync "$at"
note . 0 1 0 0

edge end "$raw/board"
rm -r "$at" bin/known
sh watch.sh stop
if [ -e covariates.py ]; then
  sh device.sh describe "$raw"
else
  echo "write_cache=$(cat "$disk/queue/write_cache")" > "$raw/board/queue.txt"
fi
