# shellcheck shell=sh
# The device of a lab board, which is there already: nothing is made, set or counted. Environment:
# DEVICE_NAME; disk, the folder of its disk in sysfs.

make_device() { echo "device: a lab board's own device is not made" >&2; return 1; }

set_timing() { :; }

reset_device() { :; }

device_counters() { :; }

# describe_device RAW: how large it is, of a partition where and beside which others, and what an eMMC or
# a disk says of itself
describe_device() {
  {
    own=/sys/class/block/$DEVICE_NAME
    (cd "$own" && grep -H -s '' size start dev | sed 's/:/=/')
    if [ -e "$own/partition" ]; then
      echo "disk=$(cat "$disk/dev")"
      echo "others=$(for other in "$disk"/*/partition; do cat "${other%partition}dev"; done |
        grep -vxF "$(cat "$own/dev")" | paste -sd' ')"
    fi
    # shellcheck disable=SC2154 # device.sh sets it
    [ ! -d "$disk/device" ] || attributes "$disk/device"
  } > "$1/board/device.txt"
}
