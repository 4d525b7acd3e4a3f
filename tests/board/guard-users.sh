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
memory = mmap.mmap(fd, 4096, trackfd=False)
os.close(fd)
open(\"ready\", \"w\")
time.sleep(1000)'"
try 'writer of mapped memory' 'process .*python3. has loop.*p2 mapped'
gone
disk
background "exec python3 -c '
import mmap, os, time
fd = os.open(\"$two\", os.O_RDWR)
memory = mmap.mmap(fd, 4096, prot=mmap.PROT_READ, trackfd=False)
os.close(fd)
open(\"ready\", \"w\")
time.sleep(1000)'"
try 'mapped memory that may be written' 'process .*python3. has loop.*p2 mapped'
gone
disk
background "exec python3 -c '
import os, socket, time
fd = os.open(\"$two\", os.O_RDWR)
one, other = socket.socketpair()
socket.send_fds(one, [b\"x\"], [fd])
os.close(fd)
one.close()
open(\"ready\", \"w\")
time.sleep(1000)'"
try 'in flight in a socket' 'open files are on their way in a unix socket of process .*python3., unread'
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
try 'loop without a node' 'the file of the loop device loop.* cannot be read'
mv saved "$loop"
losetup -d "$loop"
gone
disk
target=/sys/kernel/config/nvmet/subsystems/guard
mkdir $target $target/namespaces/1
printf %s "$two" > $target/namespaces/1/device_path
echo 1 > $target/namespaces/1/enable
try 'NVMe target' 'is served by /sys/kernel/config/nvmet'
rmdir $target/namespaces/1
mkdir $target/namespaces/1
mknod 'a node' b "${number%:*}" "${number#*:}"
printf %s "$here/a node" > $target/namespaces/1/device_path
echo 1 > $target/namespaces/1/enable
try 'NVMe target with a blank' 'loop.*p2 is served by /sys/kernel/config/nvmet'
rmdir $target/namespaces/1
mkdir $target/namespaces/1
(cd /dev && printf %s "${two#/dev/}" > $target/namespaces/1/device_path && echo 1 > $target/namespaces/1/enable)
try 'NVMe target by a relative name' 'names loop.*p2, which does not begin with /'
rmdir $target/namespaces/1 $target
rm 'a node'
gone
disk
try 'ours, before the next' ''
umount $mountpoint
start=$(cat "/sys/class/block/${one#/dev/}/start")
loop=$(losetup -f --show -o $((start * 512)) --sizelimit $((80 << 20)) "$file")
try 'another part of the image' ''
umount $mountpoint
losetup -d "$loop"
start=$(cat "/sys/class/block/${two#/dev/}/start")
loop=$(losetup -f --show -o $((start * 512)) "$file")
mkdir -p here
mount "$loop" here
try 'the same image, ours mounted' 'loop.* is a loop device of the same image as loop.*, and of the same bytes'
umount here
losetup -d "$loop"
background "exec 3<> $file; touch ready; exec sleep 1000"
try 'writer of the image' 'process .*sleep. has the file of loop.* open for writing'
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

# -- members at rest, without a sign of their own
disk
mkfs.f2fs -q -c "$two" "$one" > log 2>&1
try 'F2FS of two' 'f2fs on /dev/loop.*p1 has it as its member /dev/loop.*p2'
ln -s "$two" member
mkfs.f2fs -q -f -c $here/member "$one" > log 2>&1
rm member
try 'F2FS of two by a name that is gone' 'f2fs on /dev/loop.*p1 has the member /run/guard/member, a name that is not there'
gone
disk
truncate -s 300M data
data=$(losetup -f --show data)
mkfs.xfs -q -r rtdev="$two" "$data"
try 'XFS with a realtime device' 'xfs on /dev/loop.* has a member of [0-9]* bytes and does not say which: it may be this'
mkfs.xfs -q -f -l logdev="$two" "$data"
try 'XFS with a log elsewhere' "$(carries xfs_external_log)"
losetup -d "$data"
rm data
gone
