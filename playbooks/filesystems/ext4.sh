# shellcheck shell=sh
# ext4 on a board. Environment: DEVICE_NAME MOUNTPOINT MOUNT_OPTIONS.

# check: what it needs
check() {
  needs_program mkfs.ext4 dumpe2fs debugfs
  needs_module ext4
}

# make UUID DEVICE WORD...: a filesystem with that UUID, and nothing written over that mkfs sees
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.ext4 "$@" -U "$uuid" "$device"
}

# quiesce: write nothing by the clock; jbd2 commits every 5 s
quiesce() { commit_every 3600; }

# resume: as the kernel has it (JBD2_DEFAULT_MAX_COMMIT_AGE)
resume() { commit_every 5; }

# journal: the folder of what the kernel says of its journal; nothing of one without
journal() { find /proc/fs/jbd2 -maxdepth 1 -name "$DEVICE_NAME-*" 2> /dev/null; }

commit_every() { [ -z "$(journal)" ] || mount -o "remount,commit=$1${MOUNT_OPTIONS:+,$MOUNT_OPTIONS}" "$MOUNTPOINT"; }

# settle: what goes by the clock begins at the same moment of each run. A commit's time begins with
# its first change.
settle() { :; }

# describe FOLDER: where it keeps what
describe() {
  dumpe2fs -h "/dev/$DEVICE_NAME" > "$1/superblock.txt" 2>&1
  # where all else is: the groups' tables, and the blocks of the journal, of the file of orphans, and of
  # each directory and file: a file's map may have blocks of its own
  dumpe2fs -g "/dev/$DEVICE_NAME" > "$1/groups.txt" 2>&1
  {
    awk -F: '/^Journal inode:/ { print "stat <" $2 + 0 ">" }' "$1/superblock.txt"
    awk -F: '/^Orphan file inode:/ { print "stat <" $2 + 0 ">" }' "$1/superblock.txt"
    find "$MOUNTPOINT" -xdev '(' -type d -o -type f ')' -printf 'stat <%i>\n'
  } | debugfs -f - "/dev/$DEVICE_NAME" > "$1/inodes.txt" 2>&1
}

# counters: what it counts itself: commits of the journal
counters() { [ -z "$(journal)" ] || awk '{ print "commit", $1; exit }' "$(journal)/info"; }
