#!/usr/bin/env bash
# Build the virtual board's userland: what its root has but the kernel's modules.
#
# usage: build-userland.sh OUT_DIR PACKAGES [MIRROR]
#   OUT_DIR  gets root.tar, versions.txt; it appears only when whole
#   PACKAGES  beside those of packages.txt, separated by commas
#   MIRROR   a Debian mirror; default: the one mmdebstrap picks
#
# Packages are unpacked, not installed (mmdebstrap's extract variant): no arm64
# binary runs on the host. What the maintainer scripts would have done, and the
# board needs, is the short list in userland-hook.sh. Needs no root: mmdebstrap
# picks a user namespace when it has none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mirror=${3:-}

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The hook runs as root of a user namespace, which is nobody to this folder.
chmod 0777 "$work"

packages=$(sed 's/#.*//' "$here/packages.txt" | xargs | tr ' ' ','),$2
# the hook's shell sees paths as variables: any character may be in one
# shellcheck disable=SC2016
HERE=$here WORK=$work mmdebstrap --quiet --variant=extract --arch=arm64 --include="$packages" \
  --extract-hook='"$HERE/userland-hook.sh" "$1" "$WORK" "$HERE"' \
  --skip=chroot/mount --format=null trixie /dev/null ${mirror:+"$mirror"}

for file in root.tar versions.txt; do
  [ -s "$work/$file" ] || { echo "build-userland: $file was not made" >&2; exit 1; }
done
chmod 0755 "$work"
rm -rf "$out"
mv "$work" "$out"
trap - EXIT
