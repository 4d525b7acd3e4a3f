#!/bin/sh
# Start the virtual board: kernel filesystems, modules, loopback and SSH. Its SSH keys come from the host
# through fw_cfg, so that the image contains none.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -p /dev/pts /dev/shm /run/board /run/sshd /run/commitpath
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t configfs configfs /sys/kernel/config 2>/dev/null
hostname board
for module in qemu_fw_cfg virtio_net virtio_console; do modprobe "$module"; done

keys=/sys/firmware/qemu_fw_cfg/by_name/opt/commitpath
umask 077
cat $keys/host_key/raw > /run/board/host_key
cat $keys/authorized_keys/raw > /run/board/authorized_keys
umask 022

# links that udev would make
mkdir -p /dev/virtio-ports
for port in /sys/class/virtio-ports/*; do
  ln -s "../$(basename "$port")" "/dev/virtio-ports/$(cat "$port/name")"
done

ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
echo 'board: up'
