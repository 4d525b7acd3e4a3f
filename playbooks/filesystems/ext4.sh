# Check for ext4's programs, make it, stop and resume periodic writes, describe its layout, count its commits.
# Environment: DEVICE_NAME MOUNTPOINT MOUNT_OPTIONS.
# shellcheck shell=sh

# check: its requirements
check() {
  needs_program mkfs.ext4 dumpe2fs debugfs
  needs_module ext4
}

# make UUID DEVICE WORD...: a filesystem with that UUID; overwrites nothing that mkfs recognises
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.ext4 "$@" -U "$uuid" "$device"
}

# quiesce: no periodic writes; jbd2 commits every 5 s
quiesce() { commit_every 3600; }

# resume: the kernel's default (JBD2_DEFAULT_MAX_COMMIT_AGE)
resume() { commit_every 5; }

# journal: whether it has one, by the kernel's reading of the superblock (fs/ext4/sysfs.c, journal_task_show)
journal() {
  journal_task=$(cat "/sys/fs/ext4/$DEVICE_NAME/journal_task") || exit 1
  [ "$journal_task" != '<none>' ]
}

commit_every() {
  if journal; then mount -o "remount,commit=$1${MOUNT_OPTIONS:+,$MOUNT_OPTIONS}" "$MOUNTPOINT"; fi
}

# settle: periodic activity begins at the same time in each run. A commit's period begins with its first
# change.
settle() { :; }

# describe FOLDER: its layout
describe() {
  dumpe2fs -h "/dev/$DEVICE_NAME" > "$1/superblock.txt" 2>&1
  # other metadata: the groups' tables, and the blocks of the journal, the orphan file, and each directory and
  # file, as a file's map may have blocks of its own
  dumpe2fs -g "/dev/$DEVICE_NAME" > "$1/groups.txt" 2>&1
  {
    awk -F: '/^Journal inode:/ { print "stat <" $2 + 0 ">" }' "$1/superblock.txt"
    awk -F: '/^Orphan file inode:/ { print "stat <" $2 + 0 ">" }' "$1/superblock.txt"
    find "$MOUNTPOINT" -xdev '(' -type d -o -type f ')' -printf 'stat <%i>\n'
  } | debugfs -f - "/dev/$DEVICE_NAME" > "$1/inodes.txt" 2>&1
}

# counters: its own: commits of the journal
counters() {
  if journal; then awk '{ print "commit", $1; exit }' /proc/fs/jbd2/"$DEVICE_NAME"-*/info; fi
}
