#!/bin/sh
# Try to have another's data formatted, in every way that is known; usage: guard.sh CASES.
# A line for each: CASE|REASON|refused or formatted|SECTORS|what was said. REASON: why it must be
# refused, `late: ` where only after mkfs, nothing where it must not be. SECTORS: written meanwhile.
# Needs /run/commitpath with format_device.py; guard-users.sh what build-storage-tools.sh gets, too.
# Each case has a disk of its own: partition 1 is another's, partition 2 labelled for us.
# shellcheck disable=SC2034 # some of it is for the cases
set -u
export DM_DISABLE_UDEV=1 MDADM_NO_UDEV=1
here=/run/guard
mountpoint=/mnt/guard
mkdir -p $here
cd $here || exit 1
modprobe loop || exit 1

# MiB of partition 2
room=100
# disk [TYPE [NAME1 [NAME2]]]: a new one as $disk, $one, $two
disk() {
  file=$(mktemp -p $here disk.XXXXXX)
  truncate -s $((100 + room))M "$file"
  printf 'label: gpt\nsize=80M, name=%s\nsize='$room'M, name=%s, type=%s\n' "${2:-other}" "${3:-commitpath}" "${1:-linux}" |
    sfdisk -q "$file"
  disk=$(losetup -fP --show "$file")
  one=${disk}p1 two=${disk}p2
  bytes=$(($(cat "/sys/class/block/${two#/dev/}/size") * 512))
  number=$(cat "/sys/class/block/${two#/dev/}/dev")
}

# gone: the disk and what used it
gone() {
  for job in $jobs; do kill "$job"; wait "$job"; done 2> /dev/null
  jobs=
  losetup -d "$disk"
  rm "$file"
}
jobs=
# else the kernel writes ext4's tables by and by
now=lazy_itable_init=0,lazy_journal_init=0

# sectors DEVICE: how many were written to it
sectors() {
  sync
  awk '{ print $7 }' "/sys/class/block/${1#/dev/}/stat"
}

# try CASE REASON [NAME=VALUE...]: what format_device.py finds in its environment, in place of these
try() {
  what="$1|$2"
  shift 2
  had=$(sectors "$disk")
  # shellcheck disable=SC2086 # a command and its options
  if env BOARD_KIND=lab DEVICE="$two" DEVICE_BYTES="$bytes" FS_TYPE=ext4 MKFS_OPTIONS='["-q", "-E'$now'"]' \
    FS_SIGNATURES='["ext2", "ext3", "ext4", "f2fs", "xfs"]' \
    MKFS_ALLOWED='["-q", "-b\\d+", "-Elazy_.*"]' MOUNT_OPTIONS= MOUNT_ALLOWED='["loop", "noatime"]' MOUNTPOINT=$mountpoint "$@" \
    $alone python3 /run/commitpath/format_device.py > said 2>&1 < /dev/null; then was=formatted; else was=refused; fi
  echo "$what|$was|$(($(sectors "$disk") - had))|$(tail -n 1 said)"
}
alone=

# before_mkfs COMMAND: mkfs.ext4 does that first
before_mkfs() {
  mkdir -p bin
  printf '#!/bin/sh\n%s\nexec /usr/sbin/mkfs.ext4 "$@"\n' "$1" > bin/mkfs.ext4
  chmod +x bin/mkfs.ext4
}

# background COMMAND: until gone; it makes the file `ready`
background() {
  rm -f ready
  sh -c "$1" &
  jobs="$jobs $!"
  until [ -e ready ]; do sleep 0.1; done
}

# shellcheck source=/dev/null
. "$1"
echo 'all was tried'
