# Make a device of null_blk (Documentation/block/null_blk.rst), set its timing, write its properties.
# Environment: DEVICE_NAME.
# shellcheck shell=sh
nullb=/sys/kernel/config/nullb

# make_device SIZE_MIB NAME=VALUE...: /dev/target, a link on kernels before 5.19, which name a disk by its
# number; its folder is then renamed after the disk
make_device() {
  modprobe null_blk nr_devices=0
  power_on target "$@"
  if [ ! -b /dev/target ]; then
    disk=nullb$(cat $nullb/target/index)
    rmdir $nullb/target
    power_on "$disk" "$@"
    ln -s "$disk" /dev/target
  fi
}

# power_on FOLDER SIZE_MIB NAME=VALUE...
power_on() {
  at=$nullb/$1
  mkdir "$at"
  echo "$2" > "$at/size"
  shift 2
  set_attributes "$at" "$@"
  echo 1 > "$at/power"
}

# set_timing NAME=VALUE...: the profile's timing, which it does not accept while in use
set_timing() { set_attributes "$nullb/$DEVICE_NAME" "$@"; }

# reset_device: it has no state except its data
reset_device() { :; }

# device_counters: it has none
device_counters() { :; }

# describe_device RAW: its properties
describe_device() { attributes "$nullb/$DEVICE_NAME" > "$1/board/device.txt"; }
