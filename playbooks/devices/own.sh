# shellcheck shell=sh
# The device of a lab board, which is there already: nothing is made, set or counted. Environment:
# DEVICE_NAME; disk, the folder of its disk in sysfs.

make_device() { echo "device: a lab board's own device is not made" >&2; return 1; }

set_timing() { :; }

reset_device() { :; }

device_counters() { :; }

# describe_device RAW: how large it is, and what an eMMC or a disk says of itself
describe_device() {
  {
    (cd "/sys/class/block/$DEVICE_NAME" && grep -H -s '' size start | sed 's/:/=/')
    # shellcheck disable=SC2154 # device.sh sets it
    [ ! -d "$disk/device" ] || attributes "$disk/device"
  } > "$1/board/device.txt"
}
