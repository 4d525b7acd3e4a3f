# Make the flash device of images/devices/flashsim/, set its timing, reset it, read its counters and log.
# Environment: DEVICE_NAME.
# shellcheck shell=sh
flashsim=/sys/kernel/config/flashsim

# make_device SIZE_MIB NAME=VALUE...: /dev/target. Timing that is not given is set to the fastest, for a quick
# preparation; a run sets the profile's.
make_device() {
  [ -d $flashsim ] || insmod /run/commitpath/flashsim.ko
  mkdir $flashsim/target
  echo $(($1 * 2048)) > $flashsim/target/sectors
  shift
  set_attributes $flashsim/target "$@" || { rmdir $flashsim/target; return 1; }
  for file in "$flashsim"/target/*; do
    [ "$(cat "$file")" != unset ] || echo 0 2> /dev/null > "$file" || echo 100000 > "$file"
  done
  echo 1 > $flashsim/target/power || {
    dmesg | sed -n 's/.*flashsim: //p' | tail -n 1 >&2
    rmdir $flashsim/target
    return 1
  }
}

# set_timing NAME=VALUE...: set the profile's timing
set_timing() { set_attributes "$flashsim/$DEVICE_NAME" "$@"; }

# reset_device: clear counters and cache; keep a history if the cell has DEVICE_HISTORY
reset_device() {
  echo "${DEVICE_HISTORY:-0}" > "/sys/block/$DEVICE_NAME/flashsim/history"
  echo 1 > "/sys/block/$DEVICE_NAME/flashsim/reset"
}

# device_counters: name=value a line
device_counters() { cat "/sys/block/$DEVICE_NAME/flashsim/stats"; }

# describe_device RAW: its properties, log and counters
describe_device() {
  attributes "$flashsim/$DEVICE_NAME" > "$1/board/device.txt"
  cat "/sys/block/$DEVICE_NAME/flashsim/log" > "$1/device.bin"
  device_counters > "$1/board/device_time.txt"
}
