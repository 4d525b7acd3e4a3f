#!/usr/bin/env bash
# Unpack Debian packages of a kernel for the virtual board: vmlinuz, modules, headers to build our modules.
#
# usage: deb.sh OUT_DIR DEB...
#   OUT_DIR  gets vmlinuz, lib/modules/RELEASE, versions.txt and, if there are headers, src (for building our
#            modules, with the layout of /usr/src); it appears only when complete
#   DEB      linux-image-RELEASE and its parts; linux-headers-* and linux-kbuild-*
#
# Nothing is installed, and no dependency is fetched: a kernel needs none to boot. Drivers that no virtual
# board needs (unneeded.txt) are left out. Needs no root privileges.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
mkdir -p "$work/kernel/lib" "$work/kernel/src" "$work/unpacked"

for deb in "$@"; do
  dpkg-deb --fsys-tarfile "$deb" | tar -C "$work/unpacked" -xf - --no-same-owner \
    --exclude='./usr/share' --exclude-from=<(sed 's,^,*/kernel/,' "$here/unneeded.txt") \
    --exclude='*/dtb' --exclude='*/dtbs'
done
cd "$work/unpacked"
# bookworm has them in /lib
for modules in usr/lib/modules lib/modules; do [ ! -d $modules ] || mv $modules "$work/kernel/lib/"; done
release=$(ls "$work/kernel/lib/modules")
# links to the folder where they were built
rm -f "$work/kernel/lib/modules/$release/build" "$work/kernel/lib/modules/$release/source"
/sbin/depmod -b "$work/kernel" "$release"
# trixie-backports has it with the modules
for vmlinuz in "boot/vmlinuz-$release" "$work/kernel/lib/modules/$release/vmlinuz"; do
  [ ! -e "$vmlinuz" ] || mv "$vmlinuz" "$work/kernel/vmlinuz"
done
[ ! -d usr/src ] || mv usr/src/* "$work/kernel/src/"
# the tools that build modules, next to the headers that link to them
for tools in usr/lib/linux-kbuild-*; do
  [ -d "$tools" ] || continue
  rm -f "$work/kernel/src/$(basename "$tools")"
  mv "$tools" "$work/kernel/src/"
done
find "$work/kernel/src" -maxdepth 2 -type l -lname '*lib/linux-kbuild-*' | while read -r link; do
  to=$(readlink "$link")
  ln -sfn "../${to#*lib/}" "$link"
done
for deb in "$@"; do
  # shellcheck disable=SC2016  # the format is dpkg-deb's
  case ${deb##*/} in linux-image-* | linux-binary-*) dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" ;; esac
done > "$work/kernel/versions.txt"
rm -rf "$out"
mv "$work/kernel" "$out"
