#!/bin/sh
# Make, mount and populate the filesystem. Only ever after prove-device.sh.
# Environment: DEVICE FS_TYPE MKFS_OPTIONS MOUNT_OPTIONS MOUNTPOINT POPULATE_OPTIONS
# REHEARSAL_OPTIONS REHEARSAL_CELL (cell.env of the rehearsal)
set -eu
mkdir -p "$MOUNTPOINT"
# shellcheck disable=SC2086  # lists of options
mkfs."$FS_TYPE" $MKFS_OPTIONS "$DEVICE"
# shellcheck disable=SC2086
mount -t "$FS_TYPE" ${MOUNT_OPTIONS:+-o $MOUNT_OPTIONS} "$DEVICE" "$MOUNTPOINT"
mkdir "$MOUNTPOINT/db"
# shellcheck disable=SC2086
/run/commitpath/bin/driver populate --database "$MOUNTPOINT/db/sample.db" $POPULATE_OPTIONS
# shellcheck disable=SC2086
# the rehearsal's own database, in memory
/run/commitpath/bin/driver populate --database /run/commitpath/rehearsal.db $REHEARSAL_OPTIONS
printf %s "$REHEARSAL_CELL" > /run/commitpath/cell.env
sync
