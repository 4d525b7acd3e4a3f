#!/bin/sh
# Make the board's device, set its timing, reset it, print its counters or describe it, by devices/DRIVER.sh.
# usage: device.sh make DRIVER SIZE_MIB NAME=VALUE...
#        device.sh timing | reset | counters | describe RAW    of the device of cell.env
# make      creates /dev/target and prints a line; an existing one is kept
# timing    sets the profile's timing: for the preparation the device is made as fast as possible
# reset     clears its counters and cache
# counters  prints its counters
# describe  writes its properties and log into RAW
set -eu
folder=/run/commitpath
what=$1
shift
if [ "$what" = make ]; then
  DEVICE_DRIVER=$1
  shift
else
  # shellcheck source=/dev/null
  . "$folder/cell.env"
fi
part=$folder/devices/$DEVICE_DRIVER.sh
[ -f "$part" ] || { echo "device: there is no driver '$DEVICE_DRIVER' (playbooks/devices/)" >&2; exit 1; }

# attributes FOLDER: each readable file in it as name=value
attributes() {
  (cd "$1" && grep -H -s -d skip '' -- *) | sed 's/:/=/'
}

# set_attributes FOLDER NAME=VALUE...
set_attributes() {
  at=$1
  shift
  for attribute in "$@"; do
    file=$at/${attribute%%=*}
    [ -e "$file" ] || { echo "device: $DEVICE_DRIVER has no parameter ${attribute%%=*}" >&2; return 1; }
    echo "${attribute#*=}" > "$file" || { echo "device: $DEVICE_DRIVER does not take $attribute" >&2; return 1; }
  done
}

# shellcheck source=/dev/null
. "$part"
case $what in
  make)
    [ ! -b /dev/target ] || exit 0
    make_device "$@"
    # the device that may be formatted (proof.py)
    made=$(readlink -f /dev/target)
    cat "/sys/class/block/${made##*/}/dev" > "$folder/made-device"
    echo created
    ;;
  timing)
    # shellcheck disable=SC2086 # a list of attributes
    set_timing $DEVICE_TIMING
    reset_device
    ;;
  reset) reset_device ;;
  counters) device_counters ;;
  describe)
    # a partition's queue is its disk's
    disk=$(readlink -f "/sys/class/block/$DEVICE_NAME")
    [ -d "$disk/queue" ] || disk=${disk%/*}
    attributes "$disk/queue" > "$1/board/queue.txt"
    describe_device "$1"
    ;;
  *) echo "device: $what is not one of make, timing, reset, counters, describe" >&2; exit 1 ;;
esac
