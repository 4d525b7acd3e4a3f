#!/bin/sh
# Records blktrace-<fs>/ again: blktrace's files and the device's counters of fio on a null_blk device.
# On a board, as root: record-blktrace.sh ext4|f2fs OUT_DIR
# then on the host, in the copy of OUT_DIR of ext4:
#   blkparse -q -i nullb0 -f '%c %s %T %t %p %D %a %d %S %n %e\n' >blkparse.txt
# A memory-backed null_blk with a volatile cache; the device is idle at stat.begin and stat.end.
set -eu
fs=$1; out=$2; device=/sys/kernel/config/nullb/nullb0
modprobe "$fs"
modprobe null_blk nr_devices=0
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
if [ -d "$device" ]; then echo 0 >"$device/power"; rmdir "$device"; fi
mkdir "$device"
for pair in memory_backed=1 size=512 cache_size=64 completion_nsec=2000000 irqmode=2 \
            submit_queues=1 hw_queue_depth=1 power=1; do
	echo "${pair#*=}" >"$device/${pair%%=*}"
done
sleep 0.2
mkdir -p /mnt/target "$out"
case $fs in
ext4) mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/nullb0 ;;
*) "mkfs.$fs" -q /dev/nullb0 ;;
esac
mount /dev/nullb0 /mnt/target
sync; sleep 6
blktrace -d /dev/nullb0 -D "$out" >"$out/blktrace.out" 2>&1 &
tracer=$!
sleep 1
cat /sys/block/nullb0/stat >"$out/stat.begin"
echo "commitpath <b> note" >/sys/kernel/debug/block/nullb0/msg
fio --name=j --directory=/mnt/target --rw=randwrite --bs=4k --size=256k --number_ios=20 \
	--fdatasync=1 --output=/dev/null
fio --name=r --directory=/mnt/target --filename=j.0.0 --rw=randread --direct=1 --bs=4k \
	--size=256k --number_ios=6 --output=/dev/null
sync; sleep 7; sync; sleep 1
cat /sys/block/nullb0/stat >"$out/stat.end"
kill -INT "$tracer"
wait "$tracer" # ends well on SIGINT; a trace that did not is no sample
umount /mnt/target
