#!/bin/sh
# Stop what runs, unmount, delete: of ours only. usage: teardown.sh MOUNTPOINT
mountpoint=$1
folder=/run/commitpath
[ -e $folder/made-by-commitpath ] || exit 0
cd $folder || exit 1
pkill -INT -f '^/run/commitpath/bin/driver '
for pid in *.pid; do
  [ ! -e "$pid" ] || kill -INT "$(cat "$pid")"
done
sleep 1
# who waits to be asked how an observer ended (watch.sh)
for end in *.end; do
  [ ! -p "$end" ] || : <> "$end"
done
# mounted AT [NUMBER]: whether something, or that device, is mounted there
mounted() {
  awk -v at="$1" -v number="$2" '
    $5 == at && (number == "" || $3 == number) { found = 1 }
    END { exit !found }' /proc/self/mountinfo
}
if [ -e device.env ]; then
  . ./device.env
  ! mounted "$mountpoint" "$DEVICE_NUMBER" || umount "$mountpoint" || exit 1
fi
[ ! -e made-mountpoint ] || mounted "$mountpoint" || rmdir --ignore-fail-on-non-empty "$mountpoint"
cd /
# a bind mount of the same filesystem is none for rm
below=$(awk -v at=$folder '$5 == at || index($5, at "/") == 1 { print $5; exit }' /proc/self/mountinfo)
if [ -n "$below" ]; then
  echo "teardown: something is mounted on $below: $folder is left as it is" >&2
  exit 1
fi
rm -rf --one-file-system $folder
