# Check for XFS's programs, make it, stop and resume periodic writes, empty its log, describe its layout.
# Environment: DEVICE_NAME MOUNTPOINT.
# shellcheck shell=sh

# check: its requirements
check() {
  needs_program mkfs.xfs xfs_db xfs_io fsfreeze
  needs_module xfs
}

# make UUID DEVICE WORD...: a filesystem with that UUID; overwrites nothing that mkfs recognises
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.xfs "$@" -m "uuid=$uuid" "$device"
}

# quiesce: no periodic writes. The log's worker, which writes back the log's content, runs each
# xfssyncd_centisecs; it reads that when it goes to sleep, which a thaw makes it repeat.
quiesce() {
  interval=/proc/sys/fs/xfs/xfssyncd_centisecs
  change $interval 720000 && freeze_and_thaw "$MOUNTPOINT" && put_back $interval
}

# resume: the kernel's default
resume() { freeze_and_thaw "$MOUNTPOINT"; }

# settle: periodic activity begins at the same time in each run, with an empty log
settle() { freeze_and_thaw "$MOUNTPOINT"; }

# describe FOLDER: its layout
describe() {
  geometry=$(xfs_db -r -c info "/dev/$DEVICE_NAME") || return
  echo "$geometry" | tr , ' ' | awk '
    /^[a-z]/ { section = $1; sub("=.*", "", section) }
    {
      for (i = 1; i <= NF; i++)
        if (split($i, part, "=") == 2 && part[1] && part[2] !~ "/") print section "." part[1] " = " part[2]
    }
  ' > "$1/superblock.txt"
  # the owner of each extent: the log, a kind of metadata, or an inode
  xfs_io -r -c 'fsmap -m' "$MOUNTPOINT" > "$1/fsmap.csv" || return
  find "$MOUNTPOINT" -xdev -type d -printf '%i\n' > "$1/directories.txt"
}

# counters: none of its own for what its probe records
counters() { :; }
