# shellcheck shell=sh
# null_blk on a board (Documentation/block/null_blk.rst). Environment: DEVICE_NAME.
nullb=/sys/kernel/config/nullb

# make_device SIZE_MIB NAME=VALUE...: /dev/target
make_device() {
  modprobe null_blk nr_devices=0
  mkdir $nullb/target
  echo "$1" > $nullb/target/size
  shift
  set_attributes $nullb/target "$@"
  echo 1 > $nullb/target/power
}

# set_timing NAME=VALUE...: the profile's time, of which it takes none while it is in use
set_timing() { set_attributes "$nullb/$DEVICE_NAME" "$@"; }

# reset_device: it has no state but its data
reset_device() { :; }

# device_counters: it counts nothing
device_counters() { :; }

# describe_device RAW: what it is
describe_device() { attributes "$nullb/$DEVICE_NAME" > "$1/board/device.txt"; }
