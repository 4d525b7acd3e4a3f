#!/bin/sh
# Stop what runs, unmount, delete. usage: teardown.sh MOUNTPOINT
mountpoint=$1
for program in driver recorder blktrace; do pkill -INT -x $program; done
sleep 1
# who waits to be asked how an observer ended (watch.sh)
for end in /run/commitpath/*.end; do
  [ ! -p "$end" ] || : <> "$end"
done
if grep -q " $mountpoint " /proc/mounts; then umount "$mountpoint" || exit 1; fi
rm -rf /run/commitpath
exit 0
