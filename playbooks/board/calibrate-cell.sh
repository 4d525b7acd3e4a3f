#!/bin/sh
# Measure the raw device with the profile's timing, in place of run-cell.sh.
set -eu
cd /run/commitpath
. ./cell.env
mkdir -p raw
umount "$MOUNTPOINT"
sh device.sh timing
bash calibrate.sh calibrate.fio "/dev/$DEVICE_NAME" > raw/calibrate.json
