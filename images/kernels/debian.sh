#!/usr/bin/env bash
# Fetch a kernel of the virtual board from Debian: the linux-image-arm64 of a suite.
#
# usage: debian.sh OUT_DIR SUITE [MIRROR]
#   OUT_DIR  gets vmlinuz, lib/modules/RELEASE, src (what a module of ours is built against, as it is in
#            /usr/src), versions.txt; it appears only when whole
#   SUITE    of Debian: trixie, bookworm
#   MIRROR   a Debian mirror; default: the one mmdebstrap picks
#
# Nothing is installed, and no dependency is fetched: a kernel needs none to boot. Needs no root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 suite=$2 mirror=${3:-}
host=$(dpkg --print-architecture)

work=$(mktemp -d "$out.XXXXXX") # the template of mktemp
trap 'rm -rf "$work"' EXIT
# The hook runs as root of a user namespace, which is nobody to this folder.
chmod 0755 "$work"
mkdir "$work/debs" "$work/kernel" "$work/unpacked"
chmod 0777 "$work/debs"
# the hook's shell sees paths as variables: any character may be in one
# shellcheck disable=SC2016
HERE=$here WORK=$work HOST=$host mmdebstrap --quiet --variant=custom --architectures="$host,arm64" \
  --customize-hook='"$HERE/debian-hook.sh" "$WORK/debs" "$HOST"' \
  --format=null "$suite" /dev/null ${mirror:+"$mirror"}

for deb in "$work"/debs/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -C "$work/unpacked" -xf - --no-same-owner \
    --exclude='./usr/share' --exclude='*/kernel/drivers/gpu' --exclude='*/kernel/drivers/media' \
    --exclude='*/kernel/drivers/net/ethernet' --exclude='*/kernel/drivers/net/wireless' --exclude='*/kernel/sound'
done
cd "$work/unpacked"
mkdir "$work/kernel/lib"
# bookworm's are in /lib
for modules in usr/lib/modules lib/modules; do [ ! -d $modules ] || mv $modules "$work/kernel/lib/"; done
release=$(ls "$work/kernel/lib/modules")
/sbin/depmod -b "$work/kernel" "$release"
mv "boot/vmlinuz-$release" "$work/kernel/vmlinuz"
mv usr/src "$work/kernel/src"
# the tools that a module is built with, beside the headers that link to them
for tools in usr/lib/linux-kbuild-*; do
  rm -f "$work/kernel/src/$(basename "$tools")"
  mv "$tools" "$work/kernel/src/"
done
find "$work/kernel/src" -maxdepth 2 -type l -lname '*lib/linux-kbuild-*' | while read -r link; do
  to=$(readlink "$link")
  ln -sfn "../${to#*lib/}" "$link"
done
# shellcheck disable=SC2016  # the format is dpkg-deb's
dpkg-deb -W --showformat='${Package} ${Version}\n' "$work"/debs/linux-image-*.deb > "$work/kernel/versions.txt"
[ -e "$work/kernel/src/linux-headers-$release/Makefile" ] ||
  { echo "debian: no headers of $release in $suite" >&2; exit 1; }
rm -rf "$out"
mv "$work/kernel" "$out"
