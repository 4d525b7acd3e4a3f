# Describe the existing device of a lab board: nothing is made, set or counted. Environment:
# DEVICE_NAME; disk, the folder of its disk in sysfs.
# shellcheck shell=sh

make_device() { echo "device: a lab board's own device is not made" >&2; return 1; }

set_timing() { :; }

reset_device() { :; }

device_counters() { :; }

# describe_device RAW: its size, a partition's place and neighbours, and the properties reported by an eMMC or
# disk
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
