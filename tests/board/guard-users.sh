# shellcheck shell=sh disable=SC2154,SC2034,SC2086
# Cases of guard.sh: devices that somebody uses, or may want to use again.

for module in dm-mod dm-crypt raid1 btrfs nvmet; do modprobe $module || exit 1; done

# -- in use
disk
background "exec 3<> $two; touch ready; exec sleep 1000"
try 'writer' 'process .*sleep. has loop.*p2 open for writing'
gone
disk
background "exec 3<> $disk; touch ready; exec sleep 1000"
try 'writer of the disk' 'process .*sleep. has loop[0-9]* open for writing'
gone
disk
background "exec python3 -c '
import mmap, os, time
fd = os.open(\"$two\", os.O_RDWR)
memory = mmap.mmap(fd, 4096)
os.close(fd)
open(\"ready\", \"w\")
time.sleep(1000)'"
try 'writer of mapped memory' 'process .*python3. has loop.*p2 open for writing'
gone
disk
alone='unshare --pid --fork --mount-proc'
try 'in a container' 'processes outside of this PID namespace cannot be seen'
alone=
gone
disk
loop=$(losetup -f --show "$two")
try 'loop of it' 'is a loop device of loop.*p2'
losetup -d "$loop"
loop=$(losetup -f --show -o $(($(cat "/sys/class/block/${two#/dev/}/start") * 512)) "$disk")
try 'loop of the disk' 'is a loop device of loop[0-9]*$'
mv "$loop" saved
try 'loop without a node' 'what loop.* is a loop device of cannot be read'
mv saved "$loop"
losetup -d "$loop"
gone
disk
target=/sys/kernel/config/nvmet/subsystems/guard
mkdir $target $target/namespaces/1
printf %s "$two" > $target/namespaces/1/device_path
echo 1 > $target/namespaces/1/enable
try 'NVMe target' 'is served by /sys/kernel/config/nvmet'
rmdir $target/namespaces/1 $target
gone
disk
mkfs.ext4 -q -E $now "$two"
background "exec unshare --mount sh -c 'mount $two /mnt && touch ready && exec sleep 1000'"
try 'mounted elsewhere' 'is mounted on /mnt .process'
gone
disk
mkdir -p here
mount -t tmpfs tmpfs here
try 'mountpoint taken' 'something is mounted on /run/guard/here' MOUNTPOINT=$here/here
umount here
gone

# -- of others, at rest and in use
carries() { echo "carries $1 .*, which commitpath did not make there; .* wipefs -a /dev/loop.*p2"; }
disk
{ lvm pvcreate -q "$two" && lvm vgcreate -q guard "$two" && lvm lvcreate -q -an -Zn -Wn -L 8M -n one guard; } > log 2>&1
try 'LVM' "$(carries LVM2_member)"
lvm vgchange -q -ay guard > log 2>&1
try 'LVM in use' 'is held by dm-'
lvm vgchange -q -an guard > log 2>&1
gone
disk
mdadm -q --create /dev/md9 --run --level=1 --raid-devices=2 --metadata=1.2 "$two" missing > log 2>&1
try 'md in use' 'is held by md9'
mdadm -q --stop /dev/md9
try 'md' "$(carries linux_raid_member)"
gone
disk
echo word > key
cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 --key-file key "$two"
try 'LUKS' "$(carries crypto_LUKS)"
cryptsetup -q open --key-file key "$two" guard
try 'LUKS in use' 'is held by dm-'
cryptsetup close guard
gone
disk
mkswap -q "$two"
try 'swap' "$(carries swap)"
swapon "$two"
try 'swap in use' 'is swap'
swapoff "$two"
gone
disk
mkfs.btrfs -q "$one" "$two"
try 'btrfs' "$(carries btrfs)"
mount -t btrfs "$one" here
try 'btrfs in use' 'the kernel has it in use'
umount here
gone
disk
{ mke2fs -q -O journal_dev -b 4096 "$two" && mkfs.ext4 -q -b 4096 -E $now -J device="$two" "$one"; } > log
try 'journal' "$(carries jbd)"
mount "$one" here
try 'journal in use' 'the kernel has it in use'
umount here
gone
disk
mkfs.ext4 -q "$two"
try 'ext4 of others' "$(carries ext4)"
mkfs.ext4 -q -F -U 636f6d6d-6974-7061-7468-0123456789ab "$two"
try 'copy of ours' "$(carries ext4)"
gone
