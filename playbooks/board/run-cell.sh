#!/bin/sh
# Run a cell's STEPS on a prepared board (watch, driver, trials, record-board, …); write run.json, dmesg.txt.
#
# Reads /run/commitpath/cell.env, writes /run/commitpath/raw (docs/reference/formats.md). The filesystem is
# mounted and the database in place; all programs are in memory. Probes that were attached when the board was
# saved (watch.env exists) continue. Exits 0 when every step of the plan (STEPS) ended as planned; its output
# lists those that did not.
set -u
folder=/run/commitpath
raw=$folder/raw
cd "$folder" || exit 1
. ./cell.env
# SQLite's temporary files go to the filesystem under test: /var/tmp is in the board's memory
export SQLITE_TMPDIR="$DATABASE_FOLDER"
# used by settle
# shellcheck source=playbooks/board/changes.sh
. ./changes.sh
# settle and describe
# shellcheck source=/dev/null
. "./filesystems/$FS_TYPE.sh"
# run_load and record_load
# shellcheck source=/dev/null
. ./load.sh
ended=$folder/steps
: > "$ended"

# set `now`, in ns; by the shell itself, as a program takes the board 2 ms
look_at_clock() {
  read -r now _ < /proc/uptime
  now=${now%.*}${now#*.}0000000
}

# step NAME ok|fails: run it, record its time and result; an unplanned result ends the run
step() {
  name=$1 ends=$2
  look_at_clock
  begin=$now
  perform "$name"
  status=$?
  look_at_clock
  echo "{\"name\": \"$name\", \"begin_ns\": $begin, \"end_ns\": $now, \"status\": $status}," >> "$ended"
  case $ends,$status in ok,0) return ;; ok,*) ;; fails,0) status=1 ;; fails,*) return ;; *) status=2 ;; esac
  echo "run-cell: $name ended with $status, and was to end: $ends"
  sh watch.sh stop
  finish "$status"
}

perform() {
  case $1 in
    # probes attached when the board was saved continue
    watch) [ -e watch.env ] || sh watch.sh start ;;
    set-timing) sh device.sh timing ;;
    settle) settle ;;
    driver | command) perform_load ;;
    stop-watching) sh watch.sh stop ;;
    record-board) record_board ;;
    trials) perform_trials ;;
    kills) perform_kills ;;
    fault) perform_fault ;;
    rehearse-trials) rehearse_trials ;;
    hold) hold ;;
    *) echo "unknown step $1"; return 2 ;;
  esac
}

finish() {
  # the log as it was when the watching began
  log_mark='' watching=''
  . ./watch.env
  # if the mark is gone, messages were lost
  dmesg --raw | awk -v mark="$log_mark" '
    seen { print }
    index($0, mark) { seen = 1 }
    END { if (!seen) print "<3>run-cell: the kernel logged too much: its first messages are lost" }
  ' > "$raw/dmesg.txt"
  reads=0
  [ ! -e /sys/block/vda/stat ] || reads=$((${loaded_reads:-$(awk '{ print $1 }' /sys/block/vda/stat)} - $(cat root_reads)))
  {
    echo '{"steps": ['
    sed '$ s/,$//' "$ended"
    echo "], \"probes\": {\"requested\": \"$PROBES\", \"attached\": ${attached:-0}, \"expected\": $EXPECTED_PROBES, \"by\": \"${attached_by:-}\"},"
    echo "\"observers\": [$(echo "$watching" | sed 's/[^ ]\{1,\}/"&"/g; s/ /, /g')],"
    echo "\"root_reads\": $reads, \"clock\": \"$CLOCK\"}"
  } > "$raw/run.json"
  rm -f watch.env root_reads
  exit "$1"
}

# covariates ARGUMENTS: a lab board's conditions; a virtual board does not have the file
covariates() { [ ! -e covariates.py ] || python3 covariates.py "$@"; }

# the measured load: the driver's work, or a command (playbooks/loads/)
perform_load() {
  covariates begin || return
  # for the host's console reader; before anything is measured
  echo 'run-cell: driver starts' > /dev/console
  run_load 2> "$raw/driver/driver.err"
  status=$?
  # --drop-caches drops programs too: the root is read again, but only after the driver's work
  case ${DRIVER_OPTIONS:-} in
    *--drop-caches*) [ ! -e /sys/block/vda/stat ] || read -r loaded_reads _ < /sys/block/vda/stat ;;
  esac
  cat "$raw/driver/driver.err"
  covariates end "$raw/board" || status=1
  return "$status"
}

# Host read latency is not deterministic: what trials read from the root disk is cached before a snapshot.
rehearse_trials() {
  for program in "$(command -v gzip)" "$(command -v "${FSCK%% *}")"; do
    ldd "$program" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }' |
      xargs cat "$program" > /dev/null || return
  done
}

# The plan of trials is behind the tar of images/await-cell.sh, so that a board of trials has the run's memory
# and time until here. Its first line has further steps.
read_plan() {
  { read -r _ && read -r length && head -c "$length" > /dev/null && cat > plan.gz; } \
    < /sys/firmware/qemu_fw_cfg/by_name/opt/commitpath/cell/raw &&
    gzip -d < plan.gz > plan && tail -n +2 plan > trials && read -r more < plan
}

# crash trials by power cut: results in trials.csv, and files of some of them
perform_trials() {
  # shellcheck disable=SC2086  # a list of options
  bin/trials cut trials "$raw/trials.csv" "$raw/files" "$SAMPLED" "/dev/$DEVICE_NAME" "$DEVICE_CONTROL" \
    "$MOUNTPOINT" "$FS_TYPE" "$MOUNT_OPTIONS" "$FSCK /dev/$DEVICE_NAME" "$FSCK_EVERY" run $DRIVER_OPTIONS --output-dir "$raw/driver" \
    --announce /dev/console
}

# kill trials, in the same way
perform_kills() {
  read_plan || return
  echo 'run-cell: driver starts' > /dev/console
  # shellcheck disable=SC2086  # a list of options
  bin/trials kill trials "$raw/trials.csv" "$raw/files" "$SAMPLED" run $DRIVER_OPTIONS \
    --output-dir "$folder/killed" --announce /dev/console
}

# the trial of a fault of the device
perform_fault() {
  read_plan || return
  echo 'run-cell: driver starts' > /dev/console
  # shellcheck disable=SC2086  # a list of options
  bin/trials fault trials "$raw/trials.csv" "/dev/$DEVICE_NAME" "$DEVICE_CONTROL" "$MOUNTPOINT" "$FS_TYPE" \
    "$MOUNT_OPTIONS" run $DRIVER_OPTIONS --output-dir "$folder/faulty" --announce /dev/console
}

# show the state of the first trial again, mounted if possible, for inspection
hold() {
  read -r _ state kept < trials || return
  echo "show $state" > "$DEVICE_CONTROL/history" || return
  for word in $kept; do
    # words for persistent memory, where the trial's file already is (workloads/trials/pmem_lines.h)
    case $word in [a-z]*) continue ;; esac
    echo "keep $word" > "$DEVICE_CONTROL/history" || return
  done
  mount -t "$FS_TYPE" -o "$MOUNT_OPTIONS" "/dev/$DEVICE_NAME" "$MOUNTPOINT"
  ip link set eth0 up
  echo 'run-cell: held' > /dev/console
  while sleep 1000; do :; done
}

# values reported by the kernel modules of every virtual board
record_modules() {
  for module in modules/*.ko; do
    [ -e "$module" ] || continue
    loaded=$(basename "$module" .ko)
    values=$(cd "/sys/module/$loaded/parameters" && grep -H '' -- *) || return
    mkdir -p "$raw/board/modules"
    echo "$values" | sed 's/:/=/' > "$raw/board/modules/$loaded.txt"
  done
}

record_board() {
  cat /proc/mounts > "$raw/board/mounts"
  describe "$raw/board" || return
  sh device.sh describe "$raw" || return
  uname -a > "$raw/board/kernel.txt"
  cat /proc/cmdline > "$raw/board/cmdline.txt"
  cat /proc/cpuinfo > "$raw/board/cpuinfo.txt"
  cat /proc/meminfo > "$raw/board/meminfo.txt"
  record_modules || return
  {
    ls -1 -i -s --block-size=1 "$MOUNTPOINT/db"
    # an engine's database may be a folder
    find "$MOUNTPOINT/db" -mindepth 1 -type d -exec ls -1 -i -s --block-size=1 {} +
  } > "$raw/board/files.txt"
  record_load "$raw/board" || return
  # the virtual board's packages are unpacked, not installed: dpkg does not know them
  if [ -f /etc/board-versions ]; then cat /etc/board-versions; else dpkg-query -W; fi \
    > "$raw/board/versions.txt"
}

for planned in $STEPS; do step "${planned%:*}" "${planned#*:}"; done
# a run and its boards of trials by power cut have the same steps; only the boards have a plan
more=
if [ -n "${DEVICE_HISTORY:-}" ] && ! read_plan 2> plan.log && [ -n "$(head -c 2 plan.gz)" ]; then
  echo "run-cell: its plan of trials: $(cat plan.log)"
  finish 1
fi
for planned in $more; do step "${planned%:*}" "${planned#*:}"; done
finish 0
