# shellcheck shell=sh disable=SC2154,SC2034,SC2086
# Cases of guard.sh: what a device is called.

# -- names
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
try 'another label' "label is 'other', not 'commitpath'" DEVICE="$one"
try 'another size' 'has 104857600 bytes, the inventory says 4096' DEVICE_BYTES=4096
try 'not made by commitpath' 'is not a device that commitpath made' BOARD_KIND=virtual DEVICE="$disk"
blockdev --setro "$two"
try 'read-only' 'is read-only'
gone
disk linux commitpath
try 'label twice' "loop.*p1 has the GPT label 'commitpath' too"
gone
disk uefi
try 'ESP' 'type is c12a7328-.*, not .Linux filesystem data'
gone
disk
printf 'size=90M\n' | sfdisk -q -N 2 --no-reread --no-tell-kernel --force "$disk" 2> /dev/null
try 'another table' 'partition table differs from the kernel'
gone
