#!/bin/sh
# What one observer does, as observers/NAME.sh has it.
# usage: observer.sh NAME check|start|ready|stop|said
#
# check: whether the board has what it needs. Of a run, all of them after cell.env:
# start: begin; a program that goes on while the run does is begun with `observe`
# ready: whether it watches by now; watch.sh asks ten times a second
# stop: end, and fail if it ended badly; `ended` ends what `observe` began
# said: print what it said, where one of these failed
# $RAW is the run's folder of raw files: an observer's are called after it, or are in a folder that
# is. $BIN has what was built of probes/.
set -u
folder=$(cd "$(dirname "$0")" && pwd)
name=$1
part=$folder/observers/$name.sh
[ -f "$part" ] || { echo "observer: there is no observer '$name' (playbooks/observers/)" >&2; exit 1; }
# shellcheck source=playbooks/board/needs.sh
. "$folder/needs.sh"

# observe COMMAND...: run in the background what SIGINT ends. NAME.pid (its number, and when it began,
# in ticks: the 20th field behind the name in /proc/PID/stat) and NAME.status tell of it, and
# NAME.end, a FIFO, is written to when it has ended
observe() {
  rm -f "$name.pid" "$name.status" "$name.end"
  mkfifo "$name.end"
  (
    "$@" &
    pid=$!
    # one that has ended by now has none
    read -r stat 2> /dev/null < "/proc/$pid/stat" || stat=''
    # shellcheck disable=SC2086 # the fields behind the name
    set -- ${stat##*) }
    echo "$pid ${20:-ended}" > "$name.pid"
    wait $pid
    echo $? > "$name.status"
    : > "$name.end"
  ) &
  until [ -s "$name.pid" ]; do sleep 0.01; done
}

# ended: interrupt what `observe` began and wait for its end; its exit status, or 1 where it has ended
# by itself: it did not watch to the end. It waits on the FIFO: to look for the status twenty times a
# second takes 2 s of wall time.
ended() {
  [ -e "$name.pid" ] || return 0
  read -r pid _ < "$name.pid"
  early=''
  kill -INT "$pid" 2> /dev/null || early=1
  : < "$name.end"
  rm "$name.pid"
  read -r status < "$name.status"
  [ "$early$status" != 10 ] || { echo "observer: $name ended before it was told to"; return 1; }
  return "$status"
}

# shellcheck source=/dev/null
. "$part"
case $2 in
  check) check; met ;;
  start | ready | stop | said)
    cd "$folder" || exit 1
    # shellcheck disable=SC2034 # the observers'
    RAW=$folder/raw BIN=$folder/bin
    # shellcheck source=/dev/null
    . ./cell.env
    "$2"
    ;;
  *) echo "observer: $2 is none of check, start, ready, stop, said" >&2; exit 1 ;;
esac
