#!/usr/bin/env bash
# Download a Debian suite's arm64 kernel and headers, and unpack them for the virtual board (deb.sh).
#
# usage: debian.sh OUT_DIR SUITE [frozen]
#   OUT_DIR  made by deb.sh
#   SUITE    trixie, bookworm, bullseye, trixie-backports
#   frozen   without updates: Debian's servers still list them but no longer have the packages
#
# Needs no root privileges.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 suite=$2 frozen=${3:-}
host=$(dpkg --print-architecture)

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The hook runs as root of a user namespace, which has no rights of the owner here.
chmod 0755 "$work"
mkdir "$work/debs"
chmod 0777 "$work/debs"
# The hook gets paths as variables: they may contain any character.
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
