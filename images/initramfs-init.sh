#!/bin/busybox sh
# shellcheck shell=dash
# The board's first process (initramfs): load modules, mount a tmpfs over the read-only root, start its init.
bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs dev /dev
for module in /modules/*; do $bb insmod "$module" || echo "initramfs: $module did not load"; done
$bb mount -t ext4 -o ro,noload /dev/vda /lower || { echo 'initramfs: no root on /dev/vda'; $bb poweroff -f; }
$bb mount -t tmpfs -o size=50% tmpfs /upper
$bb mkdir /upper/data /upper/work
$bb mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work overlay /newroot
$bb mount --move /dev /newroot/dev
$bb umount /proc /sys
exec $bb switch_root /newroot /sbin/init
