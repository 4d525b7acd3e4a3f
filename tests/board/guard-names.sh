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
try 'another label' "label is 'other', not 'commitpath'" DEVICE="$one"
gone
disk linux commitpath
try 'label twice' "loop.*p1 has the GPT label 'commitpath' too"
gone
disk
printf 'size=90M\n' | sfdisk -q -N 2 --no-reread --no-tell-kernel --force "$disk" 2> /dev/null
try 'another table' 'partition table differs from the kernel'
gone
