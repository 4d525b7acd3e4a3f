#!/bin/sh
# Hold a lab board by a lease of some time: when it ends the board is restored, whatever became of the host,
# the link or the run. Each step renews it; a watcher process sleeps until it ends.
# usage: lease.sh hold SECONDS MOUNTPOINT OWNER    begin, with a watcher that outlives this session; prints `held`
#        lease.sh renew SECONDS                    extend it to that long from now
#        lease.sh left                             print the remaining seconds
#        lease.sh watch MOUNTPOINT OWNER           the watcher
#        lease.sh over MOUNTPOINT OWNER            tear down, retrying until it succeeds
set -u
folder=/run/commitpath
# its end, in seconds since boot
end=$folder/lease
now() { cut -d. -f1 /proc/uptime; }
left() { echo $(($(cat $end) - $(now))); }

# set_end SECONDS: never leaves a half-written file
set_end() { echo $(($(now) + $1)) > $end.part && mv $end.part $end; }

# watched: whether there is a watcher, which checks again after its sleep
watched() {
  [ -e $folder/lease.watcher ] && read -r pid since < $folder/lease.watcher && [ -e "/proc/$pid/stat" ] || return
  read -r stat < "/proc/$pid/stat"
  # shellcheck disable=SC2086 # the fields behind the name
  set -- "$since" ${stat##*) }
  [ "${21}" = "$1" ]
}

over() {
  tries=0
  # a file is open there, or something hangs in the kernel
  until LEASE_ENDS=1 sh $folder/teardown.sh "$1" "$2"; do
    [ -e $folder/teardown.sh ] && [ $tries -lt 60 ] || return
    tries=$((tries + 1))
    sleep 10
  done
}

what=$1
shift
case $what in
  hold)
    set_end "$1" || exit 1
    shift
    ! watched || exit 0
    echo held
    # systemd also handles the watcher's end: killing it does not keep the board
    if [ -d /run/systemd/system ]; then
      exec systemd-run --quiet --collect --unit=commitpath-lease --property=StandardOutput=null \
        --property="ExecStopPost=-/bin/sh $folder/lease.sh over $1 $2" /bin/sh $folder/lease.sh watch "$1" "$2"
    fi
    setsid sh $folder/lease.sh watch "$1" "$2" < /dev/null > /dev/null 2>&1 &
    ;;
  renew) set_end "$1" ;;
  left) left ;;
  watch)
    read -r stat < /proc/$$/stat
    mountpoint=$1 owner=$2
    # shellcheck disable=SC2086 # the fields behind the name
    set -- ${stat##*) }
    echo $$ "${20}" > $folder/lease.watcher
    # one sleep until the current end: it does not disturb a run
    while [ -e $end ] && remaining=$(left) && [ "$remaining" -gt 0 ]; do sleep "$remaining"; done
    [ ! -e $end ] || over "$mountpoint" "$owner"
    ;;
  over) [ ! -e $folder/teardown.sh ] || over "$1" "$2" ;;
  *) echo "lease: $what is not one of hold, renew, left, watch, over" >&2; exit 1 ;;
esac
