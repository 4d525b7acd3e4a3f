#!/bin/sh
# On the board, in the place of run-cell.sh: all probes, over one of each thing that they watch,
# on ext4 and on F2FS, each on a new null_blk device. Leaves raw/probes.bin and, in
# raw/devices, the device numbers (ext4's, then F2FS's).
set -eu
folder=/run/commitpath
raw=$folder/raw
nullb=/sys/kernel/config/nullb
cd "$folder"
rm -rf "$raw"
mkdir -p "$raw"

make_fs() { # name, options of mkfs
  name=$1
  shift
  device=$nullb/sample-$name
  mkdir "$device"
  echo 1 > "$device/memory_backed"
  echo 256 > "$device/size"
  echo 16 > "$device/cache_size"
  echo 2 > "$device/irqmode"
  echo 2000000 > "$device/completion_nsec"
  echo 1 > "$device/submit_queues"
  echo 1 > "$device/hw_queue_depth"
  echo 1 > "$device/power"
  "mkfs.$name" -q "$@" "/dev/sample-$name" > /dev/null
  mkdir "$folder/$name"
  mount -t "$name" "/dev/sample-$name" "$folder/$name"
}

exercise() { # folder: one of each way to ask for a sync, then a little writeback
  long=$1/a-name-of-more-than-24-bytes.db
  dd if=/dev/zero of="$long" bs=4k count=2 conv=fsync 2> /dev/null
  for _ in 1 2; do
    dd if=/dev/zero of="$1/fdatasync.db-wal" bs=4k count=1 oflag=append conv=notrunc 2> /dev/null
    sync -d "$1/fdatasync.db-wal"
  done
  dd if=/dev/zero of="$1/dsync.db" bs=4k count=2 oflag=dsync 2> /dev/null
  fio --name=ring --filename="$1/ring.db" --rw=write --bs=4k --size=12k \
    --ioengine=io_uring --fdatasync=1 > /dev/null
  # the driver's threads are known by their name
  cp /usr/bin/sync "$folder/driver"
  "$folder/driver" "$1"
  dd if=/dev/zero of="$1/dirty.db" bs=4k count=16 2> /dev/null
  sync -f "$1"
  # pages that do not follow each other, which F2FS writes side by side
  for page in 1 3 5; do
    dd if=/dev/zero of="$1/holes.db" bs=4k count=1 seek=$page conv=notrunc 2> /dev/null
  done
  sync "$1/holes.db"
  # another file with the inode of one that is gone
  rm "$1/dsync.db"
  dd if=/dev/zero of="$1/again.db" bs=4k count=1 conv=fsync 2> /dev/null
}

collect_garbage() { # folder: F2FS moves what is valid in a segment, 512 pages, of which one is not
  dd if=/dev/zero of="$1/moved.db" bs=4k count=1024 conv=fsync 2> /dev/null
  dd if=/dev/zero of="$1/moved.db" bs=4k count=1 seek=5 conv=notrunc,fsync 2> /dev/null
  echo 1 > /sys/fs/f2fs/sample-f2fs/gc_urgent
  sleep 3
  echo 0 > /sys/fs/f2fs/sample-f2fs/gc_urgent
  sync "$1/moved.db"
}

# the probes need the types of the modules
modprobe -a btrfs f2fs xfs
modprobe null_blk nr_devices=0
make_fs ext4 -b 4096 -E lazy_itable_init=0,lazy_journal_init=0
make_fs f2fs
cat /sys/block/sample-ext4/dev /sys/block/sample-f2fs/dev > "$raw/devices"
bin/recorder "$raw/probes.bin" bin/*.bpf.o > recorder.out &
recorder=$!
until grep -q attached recorder.out; do
  kill -0 "$recorder"
  sleep 0.1
done
sync
exercise "$folder/ext4"
exercise "$folder/f2fs"
collect_garbage "$folder/f2fs"
umount "$folder/f2fs" "$folder/ext4"
kill -INT "$recorder"
wait "$recorder"
cat recorder.out
