#!/bin/sh
# Make a filesystem, or check that the board can make it, by the functions of filesystems/TYPE.sh.
# usage: filesystem.sh TYPE check | make UUID DEVICE WORD...
set -eu
part=${0%/*}/filesystems/$1.sh
[ -f "$part" ] || { echo "filesystem: there is no filesystem '$1' (playbooks/filesystems/)" >&2; exit 1; }

# shellcheck source=playbooks/board/needs.sh
. "${0%/*}/needs.sh"
# shellcheck source=/dev/null
. "$part"
case $2 in
  check) check; met ;;
  make) shift 2; make "$@" ;;
  *) echo "filesystem: $2 is neither check nor make" >&2; exit 1 ;;
esac
