#!/bin/sh
# What a board does with one filesystem, as filesystems/TYPE.sh has it.
# usage: filesystem.sh TYPE check | make UUID DEVICE WORD...
set -eu
part=${0%/*}/filesystems/$1.sh
[ -f "$part" ] || { echo "filesystem: there is no filesystem '$1' (playbooks/filesystems/)" >&2; exit 1; }

missing=0
lack() {
  echo "filesystem: $1" >&2
  missing=1
}
needs_program() {
  for program in "$@"; do command -v "$program" > /dev/null || lack "$program is not installed"; done
}
needs_module() { modprobe "$1" || lack "the kernel has no $1"; }

# shellcheck source=/dev/null
. "$part"
case $2 in
  check) check; exit $missing ;;
  make) shift 2; make "$@" ;;
  *) echo "filesystem: $2 is neither check nor make" >&2; exit 1 ;;
esac
