#!/bin/sh
# `make calibrate`: measure the raw device by calibrate.sh, with its timing set, in place of run-cell.sh.
set -eu
cd /run/commitpath
. ./cell.env
mkdir -p raw
umount "$MOUNTPOINT"
sh device.sh timing
bash calibrate.sh calibrate.fio "/dev/$DEVICE_NAME" > raw/calibrate.json
