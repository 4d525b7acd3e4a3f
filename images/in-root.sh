#!/usr/bin/env bash
# Run a command in the build root, with one folder of the host seen as /work.
#
# usage: in-root.sh ROOT FOLDER COMMAND [ARGUMENT...]
# Needs no root: a user namespace stands in where there is none.
set -euo pipefail
root=$1 folder=$2
shift 2
namespaces=(--mount)
[ "$(id -u)" = 0 ] || namespaces+=(--user --map-root-user)
# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare "${namespaces[@]}" sh -c '
  root=$1 folder=$2; shift 2
  mount --bind "$folder" "$root/work" && mount --rbind /dev "$root/dev" &&
  exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C sh -c "cd /work && exec \"\$@\"" sh "$@"
' sh "$root" "$folder" "$@"
