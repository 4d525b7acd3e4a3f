#!/bin/sh
# Restore a board that OWNER holds: stop its processes, put settings back, unmount, delete its folder.
# usage: teardown.sh MOUNTPOINT OWNER [used]
# Prints `torn down` if there was something. With CHECK=1 it prints what it would do, and does nothing.
# used: only the leftovers of an interrupted call that had begun to prepare; files in place for the next call
# may stay
mountpoint=$1
owner=${2:-}
folder=/run/commitpath
[ -e $folder/made-by-commitpath ] || exit 0
# another checkout's
[ "$(cat $folder/made-by-commitpath)" = "$owner" ] || exit 0
cd $folder || exit 1
if [ "${3:-}" = used ] && [ ! -e device.env ] && [ ! -e changes ] && [ -z "$(find . -maxdepth 1 -name '*.pid')" ]; then
  exit 0
fi
if [ "${CHECK:-}" = 1 ]; then
  for file in *.pid; do [ ! -e "$file" ] || echo "would stop the process of $folder/$file"; done
  [ ! -e changes ] || sed 's/^/would put back /' changes
  [ ! -e device.env ] || echo "would unmount $mountpoint ($(sed -n 's/^DEVICE_NAME=//p' device.env))"
  echo "would delete $folder"
  exit 0
fi
pkill -INT -f '^/run/commitpath/bin/driver '
# same PID SINCE: whether it is still the process that began then; numbers are reused
same() {
  stat=$(cat "/proc/$1/stat" 2> /dev/null) || return 1
  # shellcheck disable=SC2086 # the fields behind the name
  set -- "$2" ${stat##*) }
  [ "${21}" = "$1" ]
}
for file in *.pid; do
  [ -e "$file" ] || continue
  read -r pid since < "$file"
  ! same "$pid" "$since" || kill -INT "$pid"
done
sleep 1
# a preparation restores its own changes as soon as its current command permits: wait a minute at most
for file in prepare.pid run-cell.pid run-once.pid; do
  tries=0
  while [ -e $file ] && read -r pid since < $file && same "$pid" "$since"; do
    # then kill it with its children: one session, by SSH
    [ $tries -lt 60 ] || pkill -KILL -s "$(ps -o sid= -p "$pid")"
    [ $tries -lt 70 ] || break
    tries=$((tries + 1))
    sleep 1
  done
done
left=0
if [ -e changes ]; then
  # shellcheck source=playbooks/board/changes.sh
  . ./changes.sh
  # before unmounting, which is not possible while frozen
  put_back || left=1
fi
# processes that wait to report an observer's end (watch.sh)
for end in *.end; do
  [ ! -p "$end" ] || : <> "$end"
done
# on_top: the number of the device mounted last on the mountpoint, if any
on_top() {
  awk -v at="$mountpoint" '$5 == at { number = $3 } END { print number }' /proc/self/mountinfo
}
if [ -e device.env ]; then
  . ./device.env
  [ "$(on_top)" != "$DEVICE_NUMBER" ] || umount "$mountpoint" || exit 1
  if awk -v number="$DEVICE_NUMBER" '$3 == number { found = 1 } END { exit !found }' /proc/self/mountinfo; then
    echo "teardown: $DEVICE_NAME is still mounted, below another mount on $mountpoint: $folder is not removed" >&2
    exit 1
  fi
fi
[ ! -e made-mountpoint ] || [ -n "$(on_top)" ] || rmdir --ignore-fail-on-non-empty "$mountpoint"
[ $left = 0 ] || { echo "teardown: $folder is not removed" >&2; exit 1; }
cd /
# made by check-board.sh
! awk -v at=$folder/bin '$5 == at && $0 ~ / - tmpfs commitpath / { found = 1 } END { exit !found }' /proc/self/mountinfo ||
  umount $folder/bin || exit 1
# rm would follow a bind mount of the same filesystem
below=$(awk -v at=$folder '$5 == at || index($5, at "/") == 1 { print $5; exit }' /proc/self/mountinfo)
if [ -n "$below" ]; then
  echo "teardown: something is mounted on $below: $folder is not removed" >&2
  exit 1
fi
watcher=none
[ ! -e $folder/lease.watcher ] || read -r watcher since < $folder/lease.watcher
rm -rf --one-file-system $folder
echo 'torn down'
# the lease's watcher, unless it called this; after the folder, or it would tear down as well
if [ "$watcher" = none ] || [ -n "${LEASE_ENDS:-}" ]; then exit 0; fi
if [ -d /run/systemd/system ]; then
  systemctl stop commitpath-lease.service
elif same "$watcher" "$since"; then
  pkill -KILL -s "$watcher"
fi
