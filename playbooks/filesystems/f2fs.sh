# Check for F2FS's programs, make it, stop and resume periodic writes, describe its layout, count checkpoints.
# Environment: DEVICE_NAME.
# shellcheck shell=sh

# check: its requirements
check() {
  needs_program mkfs.f2fs dump.f2fs
  needs_module f2fs
}

# make UUID DEVICE WORD...: a filesystem with that UUID; overwrites nothing that mkfs recognises
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.f2fs "$@" -U "$uuid" "$device"
}

# quiesce: no periodic writes; a checkpoint is made every 60 s
quiesce() { checkpoint_every 3600; }

# resume: the kernel's default (DEF_CP_INTERVAL)
resume() { checkpoint_every 60; }

checkpoint_every() { echo "$1" > "/sys/fs/f2fs/$DEVICE_NAME/cp_interval"; }

# settle: periodic activity begins at the same time in each run. A checkpoint's period begins with the one
# before it.
settle() { :; }

# describe FOLDER: its layout
describe() { dump.f2fs -d 1 "/dev/$DEVICE_NAME" > "$1/superblock.txt" 2>&1; }

# counters: its own: checkpoints, by the version of the newer of two. (`CP calls` in debugfs counts calls, in
# Linux 7 also those that write none.) Offsets: include/linux/f2fs_fs.h. Direct reads, as the device's cache
# does not see the filesystem's writes.
counters() {
  blocks_per_segment=$((1 << $(number 0 1044 4))) pack=$(number 0 1100 4)
  one=$(number "$pack" 0 8) other=$(number $((pack + blocks_per_segment)) 0 8)
  echo "checkpoint $((one > other ? one : other))"
}

# number BLOCK OFFSET BYTES: read a number from the device
number() {
  dd if="/dev/$DEVICE_NAME" bs=4k skip="$1" count=1 iflag=direct 2> /dev/null |
    od -A n -t "u$3" -j "$2" -N "$3" | tr -d ' '
}
