#!/bin/sh
# Run one cell on a prepared board: watch, run the driver, record what was in force.
#
# Reads /run/commitpath/cell.env, leaves /run/commitpath/raw as docs/formats.md says.
# The filesystem is mounted and the database in place. All that runs is in memory. Where
# the board was saved with its probes attached (watch.env is there), they go on.
# Exits 0 when every step did what it should; what it prints says what did not.
set -u
folder=/run/commitpath
raw=$folder/raw
cd "$folder" || exit 1
. ./cell.env
# settle and describe
# shellcheck source=/dev/null
. "./filesystems/$FS_TYPE.sh"
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
    sh watch.sh stop
    finish "$status"
  fi
}

finish() {
  # log_mark and attached, as they were when the watching began
  log_mark=''
  . ./watch.env
  # a log so long that its beginning is gone must not look like a quiet one
  dmesg --raw | awk -v mark="$log_mark" '
    seen { print }
    index($0, mark) { seen = 1 }
    END { if (!seen) print "<3>run-cell: the kernel said too much: what it said first is gone" }
  ' > "$raw/dmesg.txt"
  reads=0
  [ ! -e /sys/block/vda/stat ] || reads=$(($(awk '{ print $1 }' /sys/block/vda/stat) - $(cat root_reads)))
  {
    echo '{"steps": ['
    sed '$ s/,$//' "$steps"
    echo "], \"probes\": {\"requested\": \"$PROBES\", \"attached\": ${attached:-0}, \"expected\": $EXPECTED_PROBES},"
    echo "\"root_reads\": $reads, \"clock\": \"$CLOCK\"}"
  } > "$raw/run.json"
  rm -f watch.env root_reads
  exit "$1"
}

run_driver() {
  # for whoever watches the console; before anything is measured
  echo 'run-cell: driver starts' > /dev/console
  # shellcheck disable=SC2086  # lists of options; a watched run notes the engine's calls, if it can
  "$folder/bin/driver" run $DRIVER_OPTIONS ${PROBES:+$WATCHED_OPTIONS} --output-dir "$raw/driver" \
    --device-stat "/sys/class/block/$DEVICE_NAME/stat" --announce /dev/console --start-on-second \
    2> "$raw/driver/driver.err"
  status=$?
  cat "$raw/driver/driver.err"
  return "$status"
}

# attributes FOLDER: each readable file in it as name=value
attributes() {
  (cd "$1" && grep -H -s -d skip '' -- *) | sed 's/:/=/'
}

record_board() {
  cat /proc/mounts > "$raw/board/mounts"
  describe "$raw/board" || return
  # a partition's queue is its disk's
  disk=$(readlink -f "/sys/class/block/$DEVICE_NAME")
  [ -d "$disk/queue" ] || disk=${disk%/*}
  attributes "$disk/queue" > "$raw/board/queue.txt"
  if [ -n "$DEVICE_PARAMETERS" ]; then
    attributes "$DEVICE_PARAMETERS"
  else
    (cd "/sys/class/block/$DEVICE_NAME" && grep -H -s '' size start | sed 's/:/=/')
    # what an eMMC or a disk says of itself
    [ ! -d "$disk/device" ] || attributes "$disk/device"
  fi > "$raw/board/device.txt"
  [ ! -e "$disk/flash" ] || {
    cat "$disk/flash/log" > "$raw/device.bin"
    cat "$disk/flash/stats" > "$raw/board/device_time.txt"
  }
  uname -a > "$raw/board/kernel.txt"
  cat /proc/cmdline > "$raw/board/cmdline.txt"
  cat /proc/cpuinfo > "$raw/board/cpuinfo.txt"
  cat /proc/meminfo > "$raw/board/meminfo.txt"
  {
    ls -1 -i -s --block-size=1 "$MOUNTPOINT/db"
    # an engine's database may be a folder
    find "$MOUNTPOINT/db" -mindepth 1 -type d -exec ls -1 -i -s --block-size=1 {} +
  } > "$raw/board/files.txt"
  # the virtual board's packages were unpacked, not installed: dpkg knows of none
  if [ -f /etc/board-versions ]; then cat /etc/board-versions; else dpkg-query -W; fi \
    > "$raw/board/versions.txt"
}

[ -e watch.env ] || step watch sh watch.sh start
step set-timing sh set-timing.sh
step settle settle
step driver run_driver
step stop-watching sh watch.sh stop
step record-board record_board
finish 0
