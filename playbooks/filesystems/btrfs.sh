# Check for Btrfs's programs, make it, stop and resume periodic writes, describe its layout.
# Environment: DEVICE_NAME MOUNTPOINT MOUNT_OPTIONS.
# shellcheck shell=sh

# check: its requirements
check() {
  needs_program mkfs.btrfs btrfs
  needs_module btrfs
}

# make UUID DEVICE WORD...: a filesystem with that UUID; overwrites nothing that mkfs recognises
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.btrfs "$@" -U "$uuid" "$device"
}

# quiesce: no periodic commit of a transaction; one is made every 30 s
quiesce() { commit_every 3600; }

# resume: the kernel's default (BTRFS_DEFAULT_COMMIT_INTERVAL)
resume() { commit_every 30; }

commit_every() { mount -o "remount,commit=$1${MOUNT_OPTIONS:+,$MOUNT_OPTIONS}" "$MOUNTPOINT"; }

# settle: periodic activity begins at the same time in each run. A commit's period begins with its transaction.
settle() { :; }

# describe FOLDER: its layout. The block device's page cache may have blocks as mkfs wrote them.
describe() {
  blockdev --flushbufs "/dev/$DEVICE_NAME"
  superblock=$(btrfs inspect-internal dump-super -f "/dev/$DEVICE_NAME") || return
  echo "$superblock" | sed -n 's/^\([a-z_.]\{1,\}\)\t\t*\(.*\)/\1 = \2/p' > "$1/superblock.txt"
  btrfs inspect-internal dump-tree -t chunk "/dev/$DEVICE_NAME" > "$1/chunks.txt"
}

# counters: none of its own for what its probe records
counters() { :; }
