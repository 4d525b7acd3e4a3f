#!/bin/busybox sh
# shellcheck shell=dash
# First process of the foreign board, in place of initramfs-tools' init: the root on the disk's first
# partition, and /run as that mounts it.
bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs dev /dev
for module in /modules/*; do $bb insmod "$module" || echo "initramfs: $module did not load"; done
tries=0
root=
# an SD card takes a moment
until [ -n "$root" ] || [ $tries = 100 ]; do
  for name in vda1 mmcblk0p1; do [ ! -b /dev/$name ] || root=/dev/$name; done
  tries=$((tries + 1))
  $bb sleep 0.1
done
$bb mount -t ext4 "$root" /newroot || { echo "initramfs: no root on '$root'"; $bb poweroff -f; }
# the keys come from the host, so that the image holds none
keys=/sys/firmware/qemu_fw_cfg/by_name/opt/commitpath
umask 077
$bb cat $keys/host_key/raw > /newroot/etc/ssh/ssh_host_ed25519_key
$bb cat $keys/authorized_keys/raw > /newroot/root/.ssh/authorized_keys
umask 022
$bb mkdir -p /newroot/run
$bb mount -t tmpfs -o nodev,noexec,nosuid,size=10%,mode=0755 tmpfs /newroot/run
$bb mount --move /dev /newroot/dev
$bb umount /proc /sys
exec $bb switch_root /newroot /sbin/init
