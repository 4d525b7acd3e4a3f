#!/bin/sh
# Run the sent cell on a board over SSH, if its prepared device is still mounted; pack the results in out.tar.
# usage: run-once.sh RUN_ID SECONDS      SECONDS: of the lease, if there is one
#
# end: RUN_ID, and the kernel's boot_id when the board was reserved and now. The host accepts only the run that
# it began, on a board that was not rebooted since.
set -u
cd /run/commitpath || exit 1
rm -f out.tar end
[ ! -e lease ] || sh lease.sh renew "$2" || exit 1
# the filesystem that prepare.sh mounted must still be there
. ./device.env
# shellcheck disable=SC1091,SC2153 # the cell's
mountpoint=$(. ./cell.env && echo "$MOUNTPOINT")
there=$(awk -v at="$mountpoint" '$5 == at { number = $3 } END { print number }' /proc/self/mountinfo)
if [ "$there" != "$DEVICE_NUMBER" ]; then
  echo "run-once: on $mountpoint is the device ${there:-none}, not $DEVICE_NAME ($DEVICE_NUMBER), which was prepared" >&2
  exit 1
fi
# for teardown.sh: the process to stop
read -r stat < /proc/$$/stat
id=$1 fields=${stat##*) }
# shellcheck disable=SC2086 # the fields behind the name
set -- $fields
echo $$ "${20}" > run-once.pid
# shellcheck disable=SC2016 # the inner shell's
sh -c 'read -r stat < /proc/$$/stat
  set -- ${stat##*) }
  echo $$ "${20}" > run-cell.pid
  exec sh run-cell.sh' > run-cell.log 2>&1
echo $? > run-cell.status
rm -f run-cell.pid
echo "$id $(cat boot_id) $(cat /proc/sys/kernel/random/boot_id)" > end &&
  tar -c -f out.tar run-cell.log run-cell.status end raw || exit 1
rm run-once.pid
