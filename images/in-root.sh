#!/usr/bin/env bash
# Run a command in the build root, with a host folder mounted as /work.
#
# usage: in-root.sh ROOT FOLDER COMMAND [ARGUMENT...]
# SOURCES in the environment: a folder mounted as /usr/src, with a kernel's headers.
# Without root privileges it uses a user namespace.
set -euo pipefail
root=$1 folder=$2
shift 2
namespaces=(--mount)
[ "$(id -u)" = 0 ] || namespaces+=(--user --map-root-user)
# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare "${namespaces[@]}" sh -c '
  root=$1 folder=$2 sources=$3; shift 3
  mount --bind "$folder" "$root/work" && mount --rbind /dev "$root/dev" &&
  { [ -z "$sources" ] || mount --bind "$sources" "$root/usr/src"; } &&
  exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C sh -c "cd /work && exec \"\$@\"" sh "$@"
' sh "$root" "$folder" "${SOURCES:-}" "$@"
