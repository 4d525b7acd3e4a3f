# shellcheck shell=sh
# XFS on a board. Environment: DEVICE_NAME MOUNTPOINT.

# check: what it needs
check() {
  needs_program mkfs.xfs xfs_db xfs_io fsfreeze
  needs_module xfs
}

# make UUID DEVICE WORD...: a filesystem with that UUID, and nothing written over that mkfs sees
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.xfs "$@" -m "uuid=$uuid" "$device"
}

# quiesce: write nothing by the clock. The log's worker, which writes back what the log holds, runs
# each xfssyncd_centisecs; it reads that as it goes to sleep, which a thaw has it do anew.
quiesce() {
  interval=/proc/sys/fs/xfs/xfssyncd_centisecs
  change $interval 720000 && freeze_and_thaw "$MOUNTPOINT" && put_back $interval
}

# resume: as the kernel has it
resume() { freeze_and_thaw "$MOUNTPOINT"; }

# settle: what goes by the clock begins at the same moment of each run, with nothing in the log
settle() { freeze_and_thaw "$MOUNTPOINT"; }

# describe FOLDER: where it keeps what
describe() {
  geometry=$(xfs_db -r -c info "/dev/$DEVICE_NAME") || return
  echo "$geometry" | tr , ' ' | awk '
    /^[a-z]/ { section = $1; sub("=.*", "", section) }
    {
      for (i = 1; i <= NF; i++)
        if (split($i, part, "=") == 2 && part[1] && part[2] !~ "/") print section "." part[1] " = " part[2]
    }
  ' > "$1/superblock.txt"
  # whose each extent is: the log, a kind of metadata, or an inode
  xfs_io -r -c 'fsmap -m' "$MOUNTPOINT" > "$1/fsmap.csv" || return
  find "$MOUNTPOINT" -xdev -type d -printf '%i\n' > "$1/directories.txt"
}

# counters: what it counts itself: nothing of what its probe records
counters() { :; }
