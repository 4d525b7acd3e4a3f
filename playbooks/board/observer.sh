#!/bin/sh
# Check, start, await or stop an observer by observers/NAME.sh, print its messages; run and end its program.
# usage: observer.sh NAME check|start|ready|stop|said
#
# check: whether the board meets its requirements. In a run, after cell.env:
# start: begin; a program that runs during the run is started with `observe`
# ready: whether it is watching; watch.sh polls ten times a second
# stop: end, failing if it ended badly; `ended` ends the program of `observe`
# said: print its messages after a failure
# $RAW is the run's folder of raw files: an observer's are named after it or in a folder that is. $BIN has
# the programs built from probes/.
set -u
folder=$(cd "$(dirname "$0")" && pwd)
name=$1
part=$folder/observers/$name.sh
[ -f "$part" ] || { echo "observer: there is no observer '$name' (playbooks/observers/)" >&2; exit 1; }
# shellcheck source=playbooks/board/needs.sh
. "$folder/needs.sh"

# observe COMMAND...: run in the background a program that SIGINT ends. NAME.pid has its number and start time in
# ticks (the 20th field after the name in /proc/PID/stat), NAME.status its exit status, and NAME.end, a FIFO,
# is written when it has ended
observe() {
  rm -f "$name.pid" "$name.status" "$name.end"
  mkfifo "$name.end"
  (
    "$@" &
    pid=$!
    # a program that has already ended has no stat
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

# ended: interrupt the program of `observe` and wait for its end; returns its exit status, or 1 if it ended by
# itself before. It waits on the FIFO: polling the status twenty times a second takes 2 s of wall time.
ended() {
  [ -e "$name.pid" ] || return 0
  read -r pid _ < "$name.pid"
  early=''
  kill -INT "$pid" 2> /dev/null || early=1
  : < "$name.end"
  rm "$name.pid"
  read -r status < "$name.status"
  [ "$early$status" != 10 ] || { echo "observer: $name ended before it was stopped"; return 1; }
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
  *) echo "observer: $2 is not one of check, start, ready, stop, said" >&2; exit 1 ;;
esac
