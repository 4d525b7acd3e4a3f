#!/bin/sh
# Start or stop the observers that cell.env names, none or several.
# usage: watch.sh start|stop
#
# `start` returns when every observer is watching, and leaves watch.env (the observers, their messages, and a
# mark in the kernel's log) and root_reads (reads of the root disk so far, unless images/await-cell.sh wrote
# it). `stop` drains, and fails when an observer ended badly.
set -u
folder=$(cd "$(dirname "$0")" && pwd)
raw=$folder/raw
cd "$folder" || exit 1
# shellcheck source=/dev/null
. ./cell.env

# begin NAME: start an observer and wait until it is watching, two minutes at most
begin() {
  sh observer.sh "$1" start || return
  tries=0
  until sh observer.sh "$1" ready; do
    tries=$((tries + 1))
    if [ -e "$1.status" ] || [ "$tries" -ge 1200 ]; then
      sh observer.sh "$1" said
      return 1
    fi
    sleep 0.1
  done
}

case $1 in
  start)
    rm -rf "$raw"
    mkdir -p "$raw/driver" "$raw/board"
    [ -e root_reads ] || [ ! -e /sys/block/vda/stat ] || awk '{ print $1 }' /sys/block/vda/stat > root_reads
    read -r uptime _ < /proc/uptime
    echo "log_mark='watch: begins at $uptime'" > watch.env
    echo "<6>watch: begins at $uptime" > /dev/kmsg
    for name in $OBSERVERS; do begin "$name" || exit 1; done
    echo "watching='$OBSERVERS'" >> watch.env
    ;;
  stop)
    failed=0
    last_first=''
    for name in $OBSERVERS; do last_first="$name $last_first"; done
    for name in $last_first; do
      sh observer.sh "$name" stop || { failed=1; sh observer.sh "$name" said; }
    done
    exit $failed
    ;;
esac
