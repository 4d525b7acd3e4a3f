#!/usr/bin/env bash
# Fetch a kernel of the virtual board from Debian: the linux-image-arm64 of a suite.
#
# usage: debian.sh OUT_DIR SUITE [frozen]
#   OUT_DIR  gets what deb.sh makes
#   SUITE    of Debian: trixie, bookworm, bullseye, trixie-backports
#   frozen   without its updates, of which Debian's servers have the lists and no packages any more
#
# Needs no root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 suite=$2 frozen=${3:-}
host=$(dpkg --print-architecture)

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The hook runs as root of a user namespace, which is nobody to this folder.
chmod 0755 "$work"
mkdir "$work/debs"
chmod 0777 "$work/debs"
# the hook's shell sees paths as variables: any character may be in one
# shellcheck disable=SC2016
HERE=$here WORK=$work HOST=$host SUITE=$suite mmdebstrap --quiet --variant=custom --architectures="$host,arm64" \
  ${frozen:+--setup-hook='sed -i "/ $SUITE /!d" "$1/etc/apt/sources.list"'} \
  --customize-hook='"$HERE/debian-hook.sh" "$WORK/debs" "$HOST"' \
  --format=null "$suite" /dev/null
"$here/deb.sh" "$work/kernel" "$work"/debs/*.deb
compgen -G "$work/kernel/src/linux-headers-*-arm64/Makefile" > /dev/null ||
  { echo "debian: no headers in $suite" >&2; exit 1; }
rm -rf "$out"
mv "$work/kernel" "$out"
