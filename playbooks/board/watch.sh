#!/bin/sh
# Start or stop what watches a run: the probes' recorder and, with BLKTRACE=yes, blktrace.
# usage: watch.sh start|stop
#
# Reads /run/commitpath/cell.env. `start` returns once every probe is attached, and leaves
# watch.env: how many probes are attached, and a line of ours in the kernel's log; and root_reads, how
# often the root disk was read so far, if images/await-cell.sh has not. `stop` drains, and fails
# when an observer ended badly.
set -u
folder=/run/commitpath
raw=$folder/raw
cd "$folder" || exit 1
. ./cell.env

# observe NAME COMMAND...: run it in the background; NAME.pid (its number, and when it began, in
# ticks: the 20th field behind the name in /proc/PID/stat) and NAME.status tell of it, and NAME.end, a FIFO, is written to when it has ended
observe() {
  name=$1
  shift
  rm -f "$name.pid" "$name.status" "$name.end"
  mkfifo "$name.end"
  (
    "$@" &
    pid=$!
    read -r stat < "/proc/$pid/stat"
    # shellcheck disable=SC2086 # the fields behind the name
    set -- ${stat##*) }
    echo "$pid ${20}" > "$name.pid"
    wait $pid
    echo $? > "$name.status"
    : > "$name.end"
  ) &
  until [ -s "$name.pid" ]; do sleep 0.01; done
}

# ended NAME: interrupt an observer and wait for its end; its exit status. It waits on the FIFO:
# to look for the status twenty times a second took 2 s of wall time (docs/performance.md).
ended() {
  [ -e "$1.pid" ] || return 0
  read -r pid _ < "$1.pid"
  kill -INT "$pid" 2> /dev/null
  : < "$1.end"
  rm "$1.pid"
  return "$(cat "$1.status")"
}

# Each full buffer wakes blktrace, on the CPU that the workload needs: two buffers of 16 MiB, in
# one of which a run of 3 x 1000 fits. Every CPU has its own, so they share that memory. Of what
# happens before a command is issued only what a write's bio does is traced: the kernel takes all
# of a category, and these masks leave out plugging, which is a sixth of all events.
blktrace_run() {
  # what it locks into memory is 256 MiB (probes/unlocked.c)
  LD_PRELOAD=$folder/bin/unlocked.so exec blktrace -d "/dev/$DEVICE_NAME" -D "$raw/blktrace" -o "$DEVICE_NAME" \
    -a write -a issue -a requeue -a complete -b $((16384 / $(nproc))) -n 2 > "$raw/blktrace/blktrace.out" 2>&1
}

start_blktrace() {
  mkdir "$raw/blktrace"
  observe blktrace blktrace_run
  tries=0
  until [ -e "/sys/kernel/debug/block/$DEVICE_NAME/trace0" ]; do
    tries=$((tries + 1))
    if [ "$tries" -ge 100 ]; then
      cat "$raw/blktrace/blktrace.out"
      return 1
    fi
    sleep 0.1
  done
}

recorder_run() {
  probes=''
  for probe in $(echo "$PROBES" | tr ',' ' '); do probes="$probes bin/$probe.bpf.o"; done
  # shellcheck disable=SC2086  # a list of files
  exec bin/recorder "$raw/probes.bin" $probes > recorder.out 2> recorder.err
}

start_recorder() {
  # the rehearsal left one, which says that it attached
  rm -f recorder.out
  observe recorder recorder_run
  until grep -qs '^attached' recorder.out; do
    if [ -e recorder.status ]; then
      cat recorder.err
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
    [ -n "$PROBES" ] || exit 0
    [ "$BLKTRACE" = no ] || start_blktrace || exit 1
    start_recorder || exit 1
    sed -n 's/^attached /attached=/p' recorder.out >> watch.env
    ;;
  stop)
    failed=0
    ended recorder || { failed=1; cat recorder.err; }
    ended blktrace || failed=1
    exit $failed
    ;;
esac
