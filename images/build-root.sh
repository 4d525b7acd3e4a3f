#!/usr/bin/env bash
# Make the build root: a Debian 13 with cross compilers and the board's libraries, in which driver, probes and
# kernel modules are built, for the host's architecture. Modules are built against a kernel's headers.
#
# usage: build-root.sh OUT_DIR [PACKAGE...]
#   OUT_DIR  the unpacked root; it appears only when complete
#   PACKAGE  of the board's architecture, linked by an engine
#
# images/in-root.sh runs commands in it; the host's compiler is not used. Packages are unpacked, not
# installed (mmdebstrap's extract variant), which takes two thirds of the time.
set -euo pipefail
out=$1
shift

host=$(dpkg --print-architecture)
# make's rules call these: an unpacked root does not include essential packages
packages=base-files,bash,coreutils,dash,diffutils,findutils,grep,gzip,mawk,perl-base,sed,tar
# a kernel's Makefile calls pahole for a module's BTF
packages=$packages,make,clang-19,pahole
# engines in C++ are compiled and linked with the C++ library
packages=$packages,g++-aarch64-linux-gnu
[ "$host" = arm64 ] || packages=$packages,libc6-dev-arm64-cross

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 0777 "$work"
mkdir "$work/root"

# clang compiles the probes: 390 MB of the root's 660. Static libraries (libbpf and its dependencies) and
# Debian's engines are unpacked separately, as arm64 programs do not run here.
# shellcheck disable=SC2016  # $1 is the hook's
mmdebstrap --quiet --variant=extract --architectures="$host,arm64" --include="$packages" \
  --extract-hook="cd \"\$1/tmp\" && APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG apt-get -qq download \
    libbpf-dev:arm64 libelf-dev:arm64 zlib1g-dev:arm64 libzstd-dev:arm64 ${*/%/:arm64}" \
  --extract-hook='for deb in "$1"/tmp/*.deb; do dpkg -x "$deb" "$1"; done; rm "$1"/tmp/*.deb' \
  --extract-hook='rm -rf "$1"/usr/share/doc "$1"/usr/share/man "$1"/usr/share/locale' \
  --extract-hook='ln -s mawk "$1/usr/bin/awk"' \
  --skip=chroot/mount \
  --format=tar trixie - | tar -C "$work/root" -xf - --exclude='./dev/*' --no-same-owner
mkdir -p "$work/root/work" "$work/root/usr/src"
chmod 0755 "$work"
rm -rf "$out"
mv "$work/root" "$out"
