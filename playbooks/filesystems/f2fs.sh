# shellcheck shell=sh
# F2FS on a board. Environment: DEVICE_NAME.

# check: what it needs
check() {
  needs_program mkfs.f2fs dump.f2fs
  needs_module f2fs
}

# make UUID DEVICE WORD...: a filesystem with that UUID, and nothing written over that mkfs sees
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.f2fs "$@" -U "$uuid" "$device"
}

# quiesce: write nothing by the clock; a checkpoint is made every 60 s
quiesce() { checkpoint_every 3600; }

# resume: as the kernel has it (DEF_CP_INTERVAL)
resume() { checkpoint_every 60; }

checkpoint_every() { echo "$1" > "/sys/fs/f2fs/$DEVICE_NAME/cp_interval"; }

# settle: what goes by the clock begins at the same moment of each run. A checkpoint's time begins
# with the one before it.
settle() { :; }

# describe FOLDER: where it keeps what
describe() { dump.f2fs -d 1 "/dev/$DEVICE_NAME" > "$1/superblock.txt" 2>&1; }
