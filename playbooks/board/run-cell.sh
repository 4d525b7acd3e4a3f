#!/bin/sh
# Run one cell on a prepared board: watch, run the driver, record what was in force.
#
# Reads /run/commitpath/cell.env, leaves /run/commitpath/raw as docs/formats.md says.
# The filesystem is mounted and the database in place. All that runs is in memory.
# Exits 0 when every step did what it should; what it prints says what did not.
set -u
folder=/run/commitpath
cd "$folder" || exit 1
. ./cell.env
raw=$folder/raw
rm -rf "$raw"
mkdir -p "$raw/driver" "$raw/board" "$raw/blktrace"
steps=$folder/steps
: > "$steps"

now() { awk '{ printf "%d\n", $1 * 1000000000 }' /proc/uptime; }

# step NAME COMMAND...: run it, note when and how it ended; a failure ends the run
step() {
  name=$1
  shift
  begin=$(now)
  "$@"
  status=$?
  echo "{\"name\": \"$name\", \"begin_ns\": $begin, \"end_ns\": $(now), \"status\": $status}," >> "$steps"
  if [ $status -ne 0 ]; then
    echo "run-cell: $name failed with $status"
    finish "$status"
  fi
}

finish() {
  [ -z "${probes_pid:-}" ] || kill -INT "$probes_pid" 2>/dev/null
  [ -z "${blktrace_pid:-}" ] || kill -INT "$blktrace_pid" 2>/dev/null
  dmesg --raw | tail -n +$((dmesg_lines + 1)) > "$raw/dmesg.txt"
  {
    echo '{"steps": ['
    sed '$ s/,$//' "$steps"
    echo "], \"probes\": {\"requested\": \"$PROBES\", \"attached\": ${attached:-0}, \"expected\": ${expected:-0}},"
    echo "\"root_reads\": $(($(root_reads) - root_reads_before)), \"clock\": \"$CLOCK\"}"
  } > "$raw/run.json"
  exit "$1"
}

root_reads() { [ ! -e /sys/block/vda/stat ] || awk '{ print $1 }' /sys/block/vda/stat; }

start_blktrace() {
  blktrace -d "/dev/$DEVICE_NAME" -D "$raw/blktrace" -o "$DEVICE_NAME" -b 1024 -n 8 \
    > "$raw/blktrace/blktrace.out" 2>&1 &
  blktrace_pid=$!
  tries=0
  until [ -e "/sys/kernel/debug/block/$DEVICE_NAME/trace0" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || return 1
    sleep 0.1
  done
}

stop_blktrace() {
  kill -INT "$blktrace_pid" && wait "$blktrace_pid"
  blktrace_pid=
}

# until_line PATTERN: wait for a line in the probes' output, while they live
until_line() {
  tries=0
  until grep -q "$1" "$raw/probes.txt" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -ge 1200 ] || ! kill -0 "$probes_pid" 2>/dev/null; then
      cat "$raw/probes.err"
      return 1
    fi
    sleep 0.1
  done
}

# probes/frame.bt tells why it is done in this order
start_probes() {
  program=$folder/probes.bt
  cat "$folder/probes/frame.bt" > "$program"
  for probe in $(echo "$PROBES" | tr ',' ' '); do cat "$folder/probes/$probe.bt" >> "$program"; done
  __BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace "$program" > "$raw/probes.txt" 2> "$raw/probes.err" &
  probes_pid=$!
  until_line __BPFTRACE_NOTIFY_PROBES_ATTACHED || return 1
  kill -USR1 "$probes_pid"
  until_line '^attached' || return 1
  expected=$(sed -n 's/^Attaching \([0-9]*\) probes.*/\1/p' "$raw/probes.txt")
  attached=$expected
}

stop_probes() {
  kill -INT "$probes_pid" && wait "$probes_pid"
  probes_pid=
}

run_driver() {
  # shellcheck disable=SC2086  # a list of options
  "$folder/bin/driver" run $DRIVER_OPTIONS --output-dir "$raw/driver" \
    --device-stat "/sys/block/$DEVICE_NAME/stat" --start-on-second 2> "$raw/driver/driver.err"
  status=$?
  cat "$raw/driver/driver.err"
  return "$status"
}

record_board() {
  cat /proc/mounts > "$raw/board/mounts"
  case $FS_TYPE in
    ext4) dumpe2fs -h "/dev/$DEVICE_NAME" > "$raw/board/superblock.txt" 2>&1 ;;
    f2fs) dump.f2fs -d 1 "/dev/$DEVICE_NAME" > "$raw/board/superblock.txt" 2>&1 ;;
  esac
  for file in "/sys/block/$DEVICE_NAME"/queue/*; do
    [ -f "$file" ] && value=$(cat "$file" 2>/dev/null) && echo "${file##*/}=$value"
  done > "$raw/board/queue.txt"
  for file in "$DEVICE_PARAMETERS"/*; do
    [ -f "$file" ] && value=$(cat "$file" 2>/dev/null) && echo "${file##*/}=$value"
  done > "$raw/board/device.txt"
  uname -a > "$raw/board/kernel.txt"
  cat /proc/cmdline > "$raw/board/cmdline.txt"
  cat /proc/cpuinfo > "$raw/board/cpuinfo.txt"
  cat /proc/meminfo > "$raw/board/meminfo.txt"
  ls -1 -i -s --block-size=1 "$MOUNTPOINT/db" > "$raw/board/files.txt"
  # the virtual board's packages were unpacked, not installed: dpkg knows of none
  if [ -f /etc/board-versions ]; then cat /etc/board-versions; else dpkg-query -W; fi \
    > "$raw/board/versions.txt"
}

dmesg_lines=$(dmesg | wc -l)
root_reads_before=$(root_reads)
[ "$BLKTRACE" = 0 ] || step start-blktrace start_blktrace
[ -z "$PROBES" ] || step start-probes start_probes
step driver run_driver
[ -z "$PROBES" ] || step stop-probes stop_probes
[ "$BLKTRACE" = 0 ] || step stop-blktrace stop_blktrace
step record-board record_board
finish 0
