#!/bin/sh
# Prove that a device may be formatted: it is the one that the inventory names for the
# board, made or labelled for commitpath, and nothing uses it. Anything else ends here.
#
# usage: prove-device.sh virtual DEVICE 0
#        prove-device.sh lab DEVICE BYTES
# A lab board's DEVICE is a partition whose GPT label is `commitpath` and whose size is
# the BYTES of the inventory: somebody has to have made it for this on purpose.
set -eu
kind=$1
device=$2
bytes=$3
refuse() {
  echo "prove-device: refused to format $device: $1" >&2
  exit 1
}

[ -b "$device" ] || refuse "it is no block device"
real=$(readlink -f "$device")
name=${real##*/}
number=$(cat "/sys/class/block/$name/dev")

# Nothing uses it: not mounted, no swap, no holder, no partition of it either.
for part in "/sys/class/block/$name" /sys/class/block/"$name"/*/; do
  [ -e "$part/dev" ] || continue
  used=$(cat "$part/dev")
  awk -v dev="$used" '$3 == dev { found = 1 } END { exit !found }' /proc/self/mountinfo &&
    refuse "$used is mounted"
  node=/dev/$(basename "$(readlink -f "$part")")
  # filesystems of several devices (btrfs) show the node only
  ! grep -q " $node " /proc/self/mountinfo || refuse "$node is mounted"
  [ -z "$(ls -A "$part/holders" 2> /dev/null)" ] || refuse "$used is held by $(ls "$part/holders")"
  [ "$part" = "/sys/class/block/$name" ] || refuse "it has partitions"
done
! grep -q "^$real " /proc/swaps || refuse "it is swap"
[ "$(stat -c %Hd:%Ld /)" != "$number" ] || refuse "it holds the root"

case $kind in
  virtual)
    [ -d "/sys/kernel/config/nullb/$name" ] || [ -d "/sys/kernel/config/flashsim/$name" ] ||
      refuse "it is not a device that commitpath made"
    ;;
  lab)
    [ -e "/sys/class/block/$name/partition" ] || refuse "it is a whole disk, not a partition"
    label=$(sed -n 's/^PARTNAME=//p' "/sys/class/block/$name/uevent")
    [ "$label" = commitpath ] || refuse "its GPT label is '$label', not 'commitpath'"
    size=$(($(cat "/sys/class/block/$name/size") * 512))
    [ "$size" = "$bytes" ] || refuse "it has $size bytes, the inventory says $bytes"
    ;;
  *) refuse "unknown kind of board: $kind" ;;
esac
