#!/usr/bin/env bash
# Make the disk of a board that is not ours: Debian 12 (arm64) with systemd and its own OpenSSH.
#
# usage: build-foreign-board.sh OUT_DIR KERNEL PACKAGES
#   OUT_DIR   gets vmlinuz, initrd, disk.img; it appears only when whole
#   KERNEL    as images/kernels/debian.sh makes it
#   PACKAGES  beside those of foreign-packages.txt, separated by commas
#
# disk.img: a GPT; p1 the root, p2 empty and labelled `commitpath` (gpt.py). Packages are unpacked, as
# no arm64 program runs here; foreign-hook.sh does what their scripts would have done. Needs no root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 kernel=$2 more=$3

if [ "${4:-}" != inside ]; then
  work=$(mktemp -d "$out.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # the hook runs as root of a user namespace, which is nobody to this folder
  chmod 0777 "$work"
  packages=$(sed 's/#.*//' "$here/foreign-packages.txt" | xargs | tr ' ' ','),$more
  # the hooks' shell sees paths as variables: any character may be in one
  # shellcheck disable=SC2016
  HERE=$here WORK=$work KERNEL=$kernel mmdebstrap --quiet --variant=extract --arch=arm64 --include="$packages" \
    --setup-hook='for dir in bin sbin lib; do mkdir -p "$1/usr/$dir" && ln -s "usr/$dir" "$1/$dir"; done' \
    --extract-hook='"$HERE/foreign-hook.sh" "$1" "$WORK" "$KERNEL"' \
    --skip=chroot/mount --format=null bookworm /dev/null
  chmod 0755 "$work"
  run=("$0" "$work" "$kernel" - inside)
  if [ "$(id -u)" = 0 ]; then "${run[@]}"; else unshare --user --map-root-user "${run[@]}"; fi
  rm -rf "$work/root.tar" "$out"
  mv "$work" "$out"
  trap - EXIT
  exit
fi

# inside: root of a namespace, to whom the files belong
root=$out/root initramfs=$out/initramfs
mkdir "$root"
tar -C "$root" -xf "$out/root.tar" --no-same-owner
mkdir -p "$initramfs"/{bin,proc,sys,dev,newroot,modules}
cp "$root/usr/bin/busybox" "$initramfs/bin/"
install -m 0755 "$here/foreign-init.sh" "$initramfs/init"
"$here/../../images/initramfs-modules.sh" "$kernel" "$initramfs/modules" virtio_pci virtio_blk sdhci_pci mmc_block qemu_fw_cfg ext4
(cd "$initramfs" && find . | LC_ALL=C sort | cpio --quiet -o -H newc) | gzip -1 > "$out/initrd"
cp "$kernel/vmlinuz" "$out/vmlinuz"
python3 "$here/gpt.py" "$out/disk.img" > "$out/places"
read -r offset mib < "$out/places"
mke2fs -q -t ext4 -m 0 -L root -E "offset=$offset,lazy_itable_init=0,lazy_journal_init=0" -d "$root" "$out/disk.img" "${mib}M"
rm -rf "$root" "$initramfs" "$out/places"
