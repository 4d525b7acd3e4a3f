#!/bin/sh
# Stop what runs, unmount, delete: of ours only. usage: teardown.sh MOUNTPOINT
mountpoint=$1
cd /run/commitpath || exit 0
pkill -INT -f '^/run/commitpath/bin/driver '
for pid in *.pid; do
  [ ! -e "$pid" ] || kill -INT "$(cat "$pid")"
done
sleep 1
# who waits to be asked how an observer ended (watch.sh)
for end in *.end; do
  [ ! -p "$end" ] || : <> "$end"
done
if [ -e mounting ] && grep -q " $mountpoint " /proc/mounts; then umount "$mountpoint" || exit 1; fi
cd /
rm -rf /run/commitpath
exit 0
