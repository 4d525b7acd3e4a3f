#!/usr/bin/env bash
# Make the virtual board's disk image and initramfs from a userland and a kernel.
#
# usage: build-image.sh OUT_DIR USERLAND KERNEL
#   OUT_DIR   gets vmlinuz, initrd, root.img; it appears only when complete
#   USERLAND  as build-userland.sh makes it
#   KERNEL    made by a script of kernels/
#
# Needs no root privileges: a user namespace makes the files belong to root on the board.
set -euo pipefail
[ "$(id -u)" = 0 ] || exec unshare --user --map-root-user "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
out=$1 userland=$2 kernel=$3

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/image" "$work/root"
root=$work/root
tar -C "$root" -xf "$userland/root.tar" --no-same-owner
cp -a "$kernel/lib/modules" "$root/usr/lib/"
LC_ALL=C sort "$userland/versions.txt" "$kernel/versions.txt" > "$root/etc/board-versions"

# The initramfs: busybox, and the modules needed to mount the root.
initramfs=$work/initramfs
mkdir -p "$initramfs"/{bin,proc,sys,dev,lower,upper,newroot,modules}
cp "$root/usr/bin/busybox" "$initramfs/bin/"
install -m 0755 "$here/initramfs-init.sh" "$initramfs/init"
"$here/initramfs-modules.sh" "$kernel" "$initramfs/modules" virtio_pci virtio_blk ext4 overlay
(cd "$initramfs" && find . | LC_ALL=C sort | cpio --quiet -o -H newc) | gzip -1 > "$work/image/initrd"

cp "$kernel/vmlinuz" "$work/image/vmlinuz"
size=$(($(du -sm --apparent-size "$root" | cut -f1) * 115 / 100 + 64))
mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$work/image/root.img" "${size}M"
rm -rf "$out"
mv "$work/image" "$out"
