#!/bin/sh
# Create /dev/target, a flashsim device. usage: make-flash.sh SIZE_MIB NAME=VALUE...
# What is not given is time: it is set to the fastest there is, so that preparing is quick;
# a run sets the profile's (run-cell.sh), and what it read back must equal the profile.
# Says so when it made one; one that is there is left as it is.
set -eu
[ ! -b /dev/target ] || exit 0
size=$1
shift
folder=/sys/kernel/config/flashsim/target
fail() {
  echo "make-flash: $1" >&2
  rmdir "$folder"
  exit 1
}

[ -d /sys/kernel/config/flashsim ] || insmod /run/commitpath/flashsim.ko
mkdir "$folder"
echo $((size * 2048)) > "$folder/sectors"
for parameter in "$@"; do
  file=$folder/${parameter%%=*}
  [ -e "$file" ] || fail "flashsim has no parameter ${parameter%%=*}"
  echo "${parameter#*=}" > "$file" || fail "$parameter is not in the range of that parameter"
done
for file in "$folder"/*; do
  [ "$(cat "$file")" != unset ] || echo 0 2> /dev/null > "$file" || echo 100000 > "$file"
done
echo 1 > "$folder/power" || fail "$(dmesg | sed -n 's/.*flashsim: //p' | tail -n 1)"
test -b /dev/target
echo created
