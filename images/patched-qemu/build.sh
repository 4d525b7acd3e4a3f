#!/usr/bin/env bash
# Build Debian's QEMU with our patch, for virtual boards only: aarch64-softmmu and a board's devices.
#
# usage: build.sh OUT_DIR VERSION PATCH NAME
#   OUT_DIR  gets qemu-system-aarch64; it appears only when complete
#   VERSION  of Debian's package, 1:7.2+dfsg-7+deb12u18+b3; this host's suite must have its source
#   PATCH    ours, applied after Debian's
#   NAME     added to the emulator's version output
#
# The compilers are in a temporary root of the host's suite, so the emulator is linked with the same libraries
# as Debian's. Needs no root privileges.
set -euo pipefail
out=$1 version=$2 patch=$(readlink -f "$3") name=$4
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=/dev/null
. /etc/os-release
suite=$VERSION_CODENAME

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 0777 "$work"
mkdir -p "$work/root" "$work/build/out" "$work/apt/lists/partial" "$work/apt/archives/partial"

# the package's source, from the host's mirrors, with separate lists
# shellcheck disable=SC2016  # the format is apt's
apt-get indextargets --format '$(ORIGIN) $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sed -n 's/^Debian /deb-src [signed-by=\/usr\/share\/keyrings\/debian-archive-keyring.gpg] /p' |
  sort -u > "$work/apt/sources.list"
[ -s "$work/apt/sources.list" ] || { echo "ERROR: apt knows no Debian mirror; run apt-get update" >&2; exit 1; }
options=(
  -qq -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt"
)
# apt as root would download as a user who may not write here
[ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
apt-get "${options[@]}" update
# +b3: a rebuild of the same source
(cd "$work/build" && apt-get "${options[@]}" source --download-only "qemu=${version%+b[0-9]*}")

packages=gcc,libc6-dev,make,patch,dpkg-dev,ninja-build,meson,pkgconf,python3,python3-venv
packages=$packages,libglib2.0-dev,libfdt-dev,libslirp-dev,zlib1g-dev,libpixman-1-dev
mmdebstrap --quiet --variant=apt --include="$packages" --dpkgopt='path-exclude=/usr/share/doc/*' \
  --format=tar "$suite" - | tar -C "$work/root" -xf - --exclude='./dev/*' --no-same-owner
mkdir -p "$work/root/work" "$work/root/usr/src"

cp "$patch" "$work/build/ours.patch"
cp "$here/devices.mak" "$here/compile.sh" "$work/build"
chmod -R a+rX "$work/build"
"$here/../in-root.sh" "$work/root" "$work/build" sh compile.sh "$name"
mkdir "$work/whole"
mv "$work/build/out/qemu-system-aarch64" "$work/whole"
mv "$work/whole" "$out"
