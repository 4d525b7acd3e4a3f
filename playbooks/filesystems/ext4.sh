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

# journal: whether it has one, as the kernel took it from the superblock (fs/ext4/sysfs.c, journal_task_show)
journal() {
  journal_task=$(cat "/sys/fs/ext4/$DEVICE_NAME/journal_task") || exit 1
  [ "$journal_task" != '<none>' ]
}

commit_every() {
  if journal; then mount -o "remount,commit=$1${MOUNT_OPTIONS:+,$MOUNT_OPTIONS}" "$MOUNTPOINT"; fi
}

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
counters() {
  if journal; then awk '{ print "commit", $1; exit }' /proc/fs/jbd2/"$DEVICE_NAME"-*/info; fi
}
