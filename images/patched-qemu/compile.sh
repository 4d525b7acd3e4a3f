#!/bin/sh
# Compile Debian's QEMU with our patch, in build.sh's root and the folder of its downloads.
# usage: compile.sh NAME
set -eu
name=$1
dpkg-source --no-check -x ./*.dsc qemu
cd qemu
if ! patch -p1 --forward --fuzz=0 < ../ours.patch; then
  echo "ERROR: our patch does not apply to this release" >&2
  exit 1
fi
devices=configs/devices/aarch64-softmmu/commitpath.mak
cp ../devices.mak $devices
# 10.0 calls it ARM_GICV3, selected by `virt`
grep -qx 'config ARM_GICV3_TCG' hw/intc/Kconfig || sed -i /ARM_GICV3_TCG/d $devices
./configure --target-list=aarch64-softmmu --with-devices-aarch64=commitpath --with-pkgversion="$name" \
  --prefix=/usr --without-default-devices --without-default-features --disable-install-blobs --disable-docs \
  --disable-tools --disable-guest-agent --disable-user --disable-werror --enable-tcg --enable-system --enable-fdt \
  --enable-slirp --extra-cflags='-O3 -march=native'
# without -j the Makefile has ninja run one compiler at a time
make -C build -j "$(nproc)" qemu-system-aarch64
strip -o ../out/qemu-system-aarch64 build/qemu-system-aarch64
