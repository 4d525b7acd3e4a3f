#!/usr/bin/env bash
# Find and download a Debian suite's newest arm64 kernel packages: image, headers, kbuild.
# Called by debian.sh's mmdebstrap: debian-hook.sh DEBS HOST
set -euo pipefail
debs=$1 host=$2
export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
# linux-image-arm64 is a metapackage that depends on the suite's newest kernel
release=$(apt-cache show --no-all-versions linux-image-arm64:arm64 |
  sed -n 's/^Depends:.* linux-image-\([0-9][^ ,]*\)-arm64.*/\1/p')
[ -n "$release" ] || { echo 'debian-hook: the suite has no linux-image-arm64' >&2; exit 1; }
# linux-kbuild's name has less of the kernel's release
headers=linux-headers-$release-arm64:arm64
kbuild=$(apt-cache show --no-all-versions "$headers" | sed -n 's/^Depends:.*\(linux-kbuild-[^ ,:]*\).*/\1/p')
# newer releases split the image into several packages
parts=()
for part in base binary modules; do
  name=linux-$part-$release-arm64:arm64
  [ -z "$(apt-cache show --no-all-versions "$name" 2> /dev/null)" ] || parts+=("$name")
done
cd "$debs"
apt-get -qq download "linux-image-$release-arm64:arm64" "$headers" "linux-headers-$release-common:all" \
  "$kbuild:$host" ${parts[@]+"${parts[@]}"}
