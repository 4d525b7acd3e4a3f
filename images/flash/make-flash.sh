#!/bin/sh
# Create /dev/target, a flashsim device. usage: make-flash.sh SIZE_MIB NAME=VALUE...
#   FLASHSIM    the module's file, when it is not in /lib/modules
#   FLASH_NAME  the device's name (target)
# Every parameter must be given: flashsim has no defaults.
set -eu
size=$1
shift
name=${FLASH_NAME:-target}
folder=/sys/kernel/config/flashsim/$name

if [ ! -d /sys/kernel/config/flashsim ]; then
  modprobe configfs
  if [ -n "${FLASHSIM:-}" ]; then insmod "$FLASHSIM"; else modprobe flashsim; fi
fi
mkdir "$folder"
# nothing half-made stays behind
trap 'test -b "/dev/$name" || rmdir "$folder"' EXIT
echo $((size * 2048)) > "$folder/sectors"
for parameter in "$@"; do
  file=$folder/${parameter%%=*}
  if [ ! -e "$file" ]; then
    echo "make-flash: flashsim has no parameter ${parameter%%=*}" >&2
    exit 1
  fi
  if ! echo "${parameter#*=}" > "$file"; then
    echo "make-flash: $parameter is not in the range of that parameter" >&2
    exit 1
  fi
done
if ! echo 1 > "$folder/power"; then
  dmesg | sed -n 's/.*flashsim: /make-flash: /p' | tail -n 1 >&2
  exit 1
fi
test -b "/dev/$name"
