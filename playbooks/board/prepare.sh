#!/bin/sh
# Make and mount the filesystem, and populate the database with periodic write-back off.
# Environment: BOARD_KIND DEVICE DEVICE_BYTES FS_TYPE FS_SIGNATURES MKFS_OPTIONS MKFS_ALLOWED MOUNT_OPTIONS
# MOUNT_ALLOWED MOUNTPOINT (format_device.py); LEASE_SECONDS of a lab board; POPULATE_OPTIONS
# REHEARSAL_OPTIONS REHEARSAL_CELL (cell.env of the rehearsal). Needs /run/commitpath.
set -eu

[ ! -e /run/commitpath/lease ] || sh /run/commitpath/lease.sh renew "$LEASE_SECONDS"
# change and put_back
# shellcheck source=playbooks/board/changes.sh
. /run/commitpath/changes.sh
# for teardown.sh: the process to stop
read -r stat < /proc/$$/stat
# shellcheck disable=SC2086 # the fields behind the name
set -- ${stat##*) }
echo $$ "${20}" > /run/commitpath/prepare.pid
# what could not be restored stays recorded
trap 'trap "" HUP INT TERM
  if put_back; then rm -f /run/commitpath/changes; fi
  rm -f /run/commitpath/prepare.pid' EXIT
# on a signal dash would exit without the trap above
trap 'exit 1' HUP INT TERM
# quiesce and resume
# shellcheck source=/dev/null
. "/run/commitpath/filesystems/$FS_TYPE.sh"
# populate
# shellcheck source=/dev/null
. /run/commitpath/load.sh

python3 /run/commitpath/format_device.py
. /run/commitpath/device.env
# Periodic write-back while populating would place the filesystem's journal elsewhere on each board: a virtual
# board's clock follows the host's in this phase. Until the sync, only full buffers are written.
change /proc/sys/vm/dirty_writeback_centisecs 0
quiesce
mkdir "$MOUNTPOINT/db"
populate
printf %s "$REHEARSAL_CELL" > /run/commitpath/cell.env
sync
# this may write, too
resume
sync
