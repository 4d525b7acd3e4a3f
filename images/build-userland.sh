#!/usr/bin/env bash
# Build the virtual board's userland: its root without kernel modules.
#
# usage: build-userland.sh OUT_DIR PACKAGES [MIRROR]
#   OUT_DIR   gets root.tar, versions.txt; it appears only when complete
#   PACKAGES  in addition to packages.txt, separated by commas
#   MIRROR    a Debian mirror; default: mmdebstrap's choice
#
# Packages are unpacked, not installed (mmdebstrap's extract variant), as arm64 programs do not run here.
# userland-hook.sh does the few things that the board needs from maintainer scripts. Needs no root
# privileges: mmdebstrap uses a user namespace.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mirror=${3:-}

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The hook runs as root of a user namespace, which has no rights of the owner here.
chmod 0777 "$work"

packages=$(sed 's/#.*//' "$here/packages.txt" | xargs | tr ' ' ','),$2
# The hook gets paths as variables: they may contain any character.
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
