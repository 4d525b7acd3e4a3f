# shellcheck shell=sh disable=SC2154,SC2034,SC2086
# Cases of guard.sh: other devices and nodes, changed partition tables, what mkfs is told, and what may be
# formatted.

# -- names that change meanwhile
disk
ln -s "$two" link
before_mkfs "ln -sfn $one link"
others=$(sectors "$one")
PATH=$here/bin:$PATH
try 'link swapped meanwhile' '' DEVICE=$here/link
others=$(($(sectors "$one") - others))
echo "link swapped|$others sectors|$(readlink link)|$others|$(stat -c %Hd:%Ld $mountpoint)=$number"
umount $mountpoint
gone
disk
before_mkfs "losetup -f --show $two > loop"
try 'loop meanwhile' 'late: loop.* is a loop device of loop.*p2'
PATH=${PATH#*:}
losetup -d "$(cat loop)"
gone

# -- names
disk
mknod node b "${number%:*}" "${number#*:}"
try 'node elsewhere' "/run/guard/node has the number $number, which is $two's" DEVICE=$here/node
other=$(cat "/sys/class/block/${one#/dev/}/dev")
# on /dev: a copy is not the kernel's, which leaves it there when the disk goes
mv "$two" "$two.saved"
mknod "$two" b "${other%:*}" "${other#*:}"
try 'number of another' "$two has the number $other, which is $one's"
rm "$two"
mv "$two.saved" "$two"
try 'no block device' 'is not a block device' DEVICE=/dev/null
try 'nothing there' 'No such file' DEVICE=/dev/none
try 'whole disk' 'is a whole disk, not a partition' DEVICE="$disk"
try 'another size' 'has 104857600 bytes, the inventory says 4096' DEVICE_BYTES=4096
try 'not made by commitpath' 'is not a device that commitpath made' BOARD_KIND=virtual DEVICE="$disk"
blockdev --setro "$two"
try 'read-only' 'is read-only'
gone
disk uefi
try 'ESP' 'type is c12a7328-.*, not .Linux filesystem data'
gone

# -- a disk in use, of which the kernel reads no table again
# in_use LABEL: partition 2 gets that label while partition 1 is mounted
mkdir -p here
in_use() {
  mkfs.ext4 -q -E $now "$one"
  mount "$one" here
  sfdisk -q --part-label "$disk" 2 "$1" > log 2>&1
}
not_in_use() {
  umount here
  gone
}
disk
in_use keep
try 'label taken away in use' "label is 'keep', not 'commitpath'; if it may be lost: sfdisk --part-label"
not_in_use
disk linux other keep
in_use commitpath
try 'labelled in use' ''
umount $mountpoint
partx --update --nr 2 "$disk"
try 'labelled in use, and partx' ''
umount $mountpoint
sfdisk -q --part-label "$disk" 1 commitpath > log 2>&1
try 'label twice in the table' "loop.*p1 has the GPT label 'commitpath' too"
sfdisk -q --part-label "$disk" 2 keep > log 2>&1
try 'label on another in the table' "label is 'keep', not 'commitpath'; /dev/loop.*p1 has that label"
not_in_use
# the kernel keeps the low byte of each letter
disk linux other "$(printf '\305\243ommitpath')"
try 'label that looks alike' "label is '.*xc5.xa3ommitpath', not 'commitpath'"
gone
# a partition of another inside which ours begins, as no partitioner makes them
disk
losetup -d "$disk"
python3 - "$file" << 'END'
import struct, sys, uuid, zlib

SECTORS = 200 << 11
LINUX = uuid.UUID("0fc63daf-8483-4772-8e79-3d69d8477de4").bytes_le

def entry(first, last, name):
    label = name.encode("utf-16le").ljust(72, b"\0")
    return LINUX + uuid.uuid4().bytes_le + struct.pack("<QQQ", first, last, 0) + label

def header(own, other, table):
    fields = (0x10000, 92, 0, 0, own, other, 34, SECTORS - 34)
    data = b"EFI PART" + struct.pack("<IIIIQQQQ", *fields) + disk
    data += struct.pack("<QIII", table, 128, 128, zlib.crc32(entries))
    return data[:16] + struct.pack("<I", zlib.crc32(data)) + data[20:]

disk = uuid.uuid4().bytes_le
entries = (entry(2048, 263839, "data") + entry(131072, 263839, "commitpath")).ljust(128 * 128, b"\0")
with open(sys.argv[1], "r+b") as file:
    for sector, data in (
        (1, header(1, SECTORS - 1, 2)),
        (2, entries),
        (SECTORS - 33, entries),
        (SECTORS - 1, header(SECTORS - 1, 1, SECTORS - 33)),
    ):
        file.seek(sector * 512)
        file.write(data)
END
disk=$(losetup -fP --show "$file")
one=${disk}p1 two=${disk}p2
bytes=$(($(cat "/sys/class/block/${two#/dev/}/size") * 512))
try 'overlap' 'overlaps the partition of 261792 sectors from 2048 on'
# the kernel may not have a partition that the table has
partx --delete --nr 1 "$disk"
try 'overlap of an entry' 'overlaps the partition of 261792 sectors from 2048 on'
ln -s $mountpoint linked
try 'mount point a link' 'mount point /run/guard/linked leads to /mnt/guard through a symbolic link' MOUNTPOINT=$here/linked
try 'mount point below a link' 'leads to /mnt/guard/db through' MOUNTPOINT=$here/linked/db
try 'mount point a file' 'is not a folder' MOUNTPOINT=$file
try 'mount point nowhere' 'there is no /run/guard/none' MOUNTPOINT=$here/none/db
try 'bytes in words' "are '64MiB', not a whole number" DEVICE_BYTES=64MiB
gone

# -- options
disk
mke2fs -q -O journal_dev -b 4096 -L victim "$one" > log
try 'mkfs -J device' 'may not be given -Jdevice=LABEL=victim' MKFS_OPTIONS='["-q", "-b4096", "-Jdevice=LABEL=victim"]'
try 'mkfs -F' 'may not be given -F' MKFS_OPTIONS='["-q", "-F"]'
try 'mkfs -U' 'may not be given -Uclear' MKFS_OPTIONS='["-Uclear"]'
try 'mkfs of two' "may not be given $one" MKFS_OPTIONS="[\"$one\"]"
try 'mount -o abort' 'mount may not be given abort' MOUNT_OPTIONS=noatime,abort
try 'mount -o loop' 'late: mount -o loop mounted another device' MOUNT_OPTIONS=loop
gone

# -- what may be: new, and again over our own
disk
for kind in ext4 f2fs ext4; do
  try "ours, $kind" '' FS_TYPE=$kind MKFS_OPTIONS='["-q"]'
  umount $mountpoint
done
gone
# xfs wants 300 MiB, and takes no filesystem for nothing
room=320
disk
for word in "-llogdev=$one" "-rrtdev=$one" "-dname=$one" -f -muuid=restamp; do
  try "mkfs.xfs $word" "may not be given $word" FS_TYPE=xfs MKFS_OPTIONS="[\"-q\", \"$word\"]"
done
for kind in xfs ext4 xfs; do
  try "ours, $kind" '' FS_TYPE=$kind MKFS_OPTIONS='["-q"]'
  umount $mountpoint
done
gone
room=100
modprobe null_blk nr_devices=0
made=/sys/kernel/config/nullb/guard
mkdir $made
echo 64 > $made/size
echo 1 > $made/memory_backed
echo 1 > $made/power
cat /sys/class/block/guard/dev > /run/commitpath/made-device
disk=/dev/guard
try 'virtual' '' BOARD_KIND=virtual DEVICE=$disk
try 'virtual, mounted' 'is mounted on /mnt/guard' BOARD_KIND=virtual DEVICE=$disk
umount $mountpoint
echo 0 > $made/power
rmdir $made
