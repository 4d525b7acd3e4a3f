#!/usr/bin/env bash
# Make the Debian 13 build root, on the host's own architecture: it cross-builds
# the driver, kernel modules and probes against exactly the board's libc and kernel.
#
# usage: build-root.sh OUT_DIR VERSIONS_TXT
#   OUT_DIR       the unpacked root; it appears only when whole
#   VERSIONS_TXT  the image's versions.txt: names the board's kernel
#
# images/in-root.sh runs commands in it. No compiler of the host is involved.
set -euo pipefail
out=$1
kernel=$(sed -n 's/^linux-image-\([0-9][^ ]*\)-arm64 .*/\1/p' "$2")
[ -n "$kernel" ] || { echo "build-root: $2 names no kernel" >&2; exit 1; }

host=$(dpkg --print-architecture)
packages=make,gcc-aarch64-linux-gnu,clang-19,linux-kbuild-$kernel
# the driver's engines are linked with the C++ library
if [ "$host" = arm64 ]; then
  packages=$packages,libstdc++-14-dev
else
  packages=$packages,libc6-dev-arm64-cross,libstdc++-14-dev-arm64-cross
fi

work=$(mktemp -d "$out.XXXXXX") # the template of mktemp
trap 'rm -rf "$work"' EXIT
chmod 0777 "$work"

# clang makes the probes: 390 MB of the root's 750. linux-headers-*-arm64 is unpacked
# beside: its dependencies pull a compiler that runs on arm64 only, and the headers
# themselves need none. So are libbpf and what it is linked with, and the engines that
# Debian has, as no arm64 program runs here.
# shellcheck disable=SC2016  # $1 is the hook's
mmdebstrap --quiet --variant=apt --architectures="$host,arm64" --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook="cd \"\$1/tmp\" && APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG apt-get -qq download \
    linux-headers-$kernel-arm64:arm64 linux-headers-$kernel-common:all \
    libbpf-dev:arm64 libbpf1:arm64 libelf1t64:arm64 zlib1g:arm64 libzstd1:arm64 \
    libleveldb-dev:arm64 libsnappy-dev:arm64" \
  --customize-hook='for deb in "$1"/tmp/*.deb; do dpkg -x "$deb" "$1"; done; rm "$1"/tmp/*.deb' \
  trixie "$work/root.tar"

mkdir "$work/root"
tar -C "$work/root" -xf "$work/root.tar" --exclude='./dev/*' --no-same-owner
mkdir -p "$work/root/work"
chmod 0755 "$work"
[ -e "$work/root/usr/src/linux-headers-$kernel-arm64/Makefile" ] ||
  { echo "build-root: no headers of $kernel in it" >&2; exit 1; }
rm -rf "$out"
mv "$work/root" "$out"
