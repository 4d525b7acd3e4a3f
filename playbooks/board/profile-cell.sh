#!/bin/sh
# Record a device's size and queue properties; with a list of commands, time each on the raw device.
#
# In place of run-cell.sh. Destroys the device's data.
# Without commands.gz only what the kernel reports of the device is written: raw/facts, NAME=VALUE a line.
# With it the times of its commands, too: raw/latencies.txt (workloads/latencies/latencies.c).
set -eu
cd /run/commitpath
. ./cell.env
mkdir -p raw/board
own=$(readlink -f "/sys/class/block/$DEVICE_NAME")
queue=$own/queue
[ -d "$queue" ] || queue=${own%/*}/queue
{
  echo "size_bytes=$(($(cat "$own/size") * 512))"
  for name in logical_block_size write_cache fua discard_max_bytes; do echo "$name=$(cat "$queue/$name")"; done
} > raw/facts
[ -e commands.gz ] || exit 0

# of the verified device: while it is open, no other gets its number, as after the umount one of two USB disks
# that are attached anew could
exec 3< "/dev/$DEVICE_NAME"
verified=$(printf '%x:%x' "${DEVICE_NUMBER%:*}" "${DEVICE_NUMBER#*:}")
if [ "$(stat -L -c %t:%T /proc/self/fd/3)" != "$verified" ]; then
  echo "profile: $DEVICE_NAME is not the device that was verified" >&2
  exit 1
fi
umount "$MOUNTPOINT"
sh device.sh timing
gzip -dc commands.gz > commands
chmod +x bin/latencies
# a virtual board does not have the file
[ ! -e covariates.py ] || python3 covariates.py begin
bin/latencies /proc/self/fd/3 < commands > raw/latencies.txt
[ ! -e covariates.py ] || python3 covariates.py end raw/board
