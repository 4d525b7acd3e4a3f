#!/bin/sh
# In the place of run-cell.sh: a cell's run on a filesystem over dm-log-writes, and then what the states of
# its log hold (replay.py beside it). LOOK of cell.env is replay.py's argument.
#
# Devices: brd's, in memory, as large as the cell's. ram0 has what the device held before the run, and the
# log is replayed on it; ram1 has the log; ram2 takes what is written on a state.
set -eu
folder=/run/commitpath
raw=$folder/raw
cd "$folder"
set -a
. ./cell.env
set +a
# run_load
# shellcheck source=/dev/null
. ./load.sh
# nobody makes the nodes of /dev/mapper but dmsetup
export DM_DISABLE_UDEV=1
device=/dev/$DEVICE_NAME
sectors=$(blockdev --getsz "$device")

echo 'run-cell: driver starts' > /dev/console
umount "$MOUNTPOINT"
modprobe brd rd_nr=3 rd_size=$((sectors / 2))
modprobe -a dm-log-writes dm-snapshot
dd if="$device" of=/dev/ram0 bs=1M iflag=direct conv=sparse,fsync 2> /dev/null
echo 'peer: copied' > /dev/console
# its profile's time, and its log and its history begin
sh device.sh timing
dmsetup create logged --table "0 $sectors log-writes $device /dev/ram1"
mount -t "$FS_TYPE" -o "$MOUNT_OPTIONS" /dev/mapper/logged "$MOUNTPOINT"
dmsetup message logged 0 mark begin
run_load 2> "$raw/driver/driver.err" || { cat "$raw/driver/driver.err"; exit 1; }
dmsetup message logged 0 mark end
umount "$MOUNTPOINT"
dmsetup remove logged
cat "/sys/block/$DEVICE_NAME/flashsim/log" > "$raw/device.bin"
echo 'peer: states' > /dev/console
python3 replay.py "$LOOK"
