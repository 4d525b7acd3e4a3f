#!/usr/bin/env bash
# The programs of LVM, md, LUKS and btrfs for the board, which guard.sh tries and no run needs.
# usage: build-storage-tools.sh OUT_DIR      gets tools.tar, to be unpacked on the board's /
set -euo pipefail
out=$1
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
# as in images/build-userland.sh
chmod 0777 "$work"
libraries=usr/lib/aarch64-linux-gnu
mmdebstrap --quiet --variant=extract --arch=arm64 --include=lvm2,mdadm,cryptsetup-bin,btrfs-progs \
  --dpkgopt='path-exclude=/usr/share/*' --skip=chroot/mount \
  --extract-hook="cd \"\$1\" && tar -c -f '$work/tools.tar' \
    usr/sbin/lvm usr/sbin/mdadm usr/sbin/cryptsetup usr/sbin/mkfs.btrfs \
    $libraries/libdevmapper-event.so* $libraries/liblzo2.so* $libraries/libpopt.so*" \
  --format=null trixie /dev/null
chmod 0755 "$work"
mv "$work" "$out"
trap - EXIT
