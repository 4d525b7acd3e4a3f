#!/bin/sh
# Create /dev/target, a null_blk device. usage: make-null_blk.sh SIZE_MIB NAME=VALUE...
# Says so when it made one; one that is there is left as it is.
set -eu
[ ! -b /dev/target ] || exit 0
size=$1
shift
modprobe null_blk nr_devices=0
folder=/sys/kernel/config/nullb/target
mkdir $folder
echo "$size" > $folder/size
for parameter in "$@"; do
  echo "${parameter#*=}" > "$folder/${parameter%%=*}"
done
echo 1 > $folder/power
test -b /dev/target
echo created
