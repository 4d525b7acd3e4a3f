#!/bin/sh
# Stop what runs, unmount, delete: of OWNER's only. usage: teardown.sh MOUNTPOINT OWNER [used]
# Says `torn down` if there was something. With CHECK=1 it says what it would do, and does nothing.
# used: only what a call left that was cut short when it had begun to prepare; what is in place for the next
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
# same PID SINCE: whether it is the process that began then; the number may be another's by now
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
# one that prepares puts back itself what it changed, as soon as what it runs lets it: a minute at most
for file in prepare.pid run-cell.pid run-once.pid; do
  tries=0
  while [ -e $file ] && read -r pid since < $file && same "$pid" "$since"; do
    # then with all that it began: of one session, as SSH has it
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
  # before the umount: what is frozen cannot be
  put_back || left=1
fi
# who waits to be asked how an observer ended (watch.sh)
for end in *.end; do
  [ ! -p "$end" ] || : <> "$end"
done
# on_top: the number of what is mounted on the mountpoint last, if anything is
on_top() {
  awk -v at="$mountpoint" '$5 == at { number = $3 } END { print number }' /proc/self/mountinfo
}
if [ -e device.env ]; then
  . ./device.env
  [ "$(on_top)" != "$DEVICE_NUMBER" ] || umount "$mountpoint" || exit 1
  if awk -v number="$DEVICE_NUMBER" '$3 == number { found = 1 } END { exit !found }' /proc/self/mountinfo; then
    echo "teardown: $DEVICE_NAME is still mounted, below something else on $mountpoint: $folder is left as it is" >&2
    exit 1
  fi
fi
[ ! -e made-mountpoint ] || [ -n "$(on_top)" ] || rmdir --ignore-fail-on-non-empty "$mountpoint"
[ $left = 0 ] || { echo "teardown: $folder is left as it is" >&2; exit 1; }
cd /
# check-board.sh's
! awk -v at=$folder/bin '$5 == at && $0 ~ / - tmpfs commitpath / { found = 1 } END { exit !found }' /proc/self/mountinfo ||
  umount $folder/bin || exit 1
# a bind mount of the same filesystem is none for rm
below=$(awk -v at=$folder '$5 == at || index($5, at "/") == 1 { print $5; exit }' /proc/self/mountinfo)
if [ -n "$below" ]; then
  echo "teardown: something is mounted on $below: $folder is left as it is" >&2
  exit 1
fi
watcher=none
[ ! -e $folder/lease.watcher ] || read -r watcher since < $folder/lease.watcher
rm -rf --one-file-system $folder
echo 'torn down'
# the lease's, unless it is who asks; after the folder, or it would tear down, too
if [ "$watcher" = none ] || [ -n "${LEASE_ENDS:-}" ]; then exit 0; fi
if [ -d /run/systemd/system ]; then
  systemctl stop commitpath-lease.service
elif same "$watcher" "$since"; then
  pkill -KILL -s "$watcher"
fi
