#!/bin/sh
# The module that keeps what is written, on the board's kernel: two logs, of a device that is written to,
# and of one that is written more than it has room for. Leaves raw/*.bin and what the device holds.
# Environment of the run: cell.env. The module comes as content.ko.gz where the board has none.
set -eu
cd /run/commitpath
# shellcheck source=/dev/null
. ./cell.env
umount "$MOUNTPOINT"
[ -e content.ko ] || gunzip content.ko.gz
device=/dev/$DEVICE_NAME
mkdir -p raw
# numbers, so that no two pages are alike
seq -w 1 99999 | head -c 262144 > raw/pattern

# refused COMMAND...: it must fail
refused() {
  if "$@" 2> /dev/null; then
    echo "content-check: it did not fail: $*"
    exit 1
  fi
}

watch() {
  sh observer.sh content start
  sh observer.sh content ready
}

watch
# direct: three sizes, by themselves
dd if=raw/pattern of="$device" bs=4096 count=3 oflag=direct status=none
dd if=raw/pattern of="$device" bs=65536 count=2 seek=1 oflag=direct,dsync status=none
# through the page cache; the pages are changed as soon as they are written
dd if=raw/pattern of="$device" bs=4096 seek=64 conv=fsync status=none
dd if=/dev/zero of="$device" bs=4096 count=8 seek=64 conv=fsync status=none
blkdiscard --offset 4194304 --length 65536 "$device" 2> /dev/null || echo 'no discard'
dd if="$device" of=/dev/null bs=4096 count=16 iflag=direct status=none
sh observer.sh content stop
mv raw/content.bin raw/whole.bin
dd if="$device" of=raw/held bs=65536 count=8 iflag=direct status=none
# nothing of it is left
refused sh observer.sh content ready
refused grep -q '^content ' /proc/modules

# one that is full: 4 MiB of data, 70 commands
read -r device_number < "/sys/class/block/$DEVICE_NAME/dev"
insmod content.ko "major=${device_number%:*}" "minor=${device_number#*:}" data_mib=4 records=70
i=0
while [ $i -lt 75 ]; do
  dd if=raw/pattern of="$device" bs=65536 count=1 seek=$i oflag=direct status=none
  i=$((i + 1))
done
sh observer.sh content stop
mv raw/content.bin raw/full.bin
# a log is read once: its memory is given back as it is
insmod content.ko "major=${device_number%:*}" "minor=${device_number#*:}" data_mib=4 records=70
cat /sys/kernel/debug/content > raw/empty.bin
refused cat /sys/kernel/debug/content
rmmod content
# room that cannot be had is refused
refused insmod content.ko major=1 minor=99 data_mib=3
