#!/bin/sh
# On the board: the recorder alone with each probe, then with rings that are too small, then all
# that it must refuse. It prints the line that each attempt ended with.
set -u
cd /run/commitpath || exit 1
rm -rf raw
mkdir raw

# their probes need the types of the modules, of which the board has loaded only its own filesystem's
modprobe -a btrfs f2fs xfs
for probe in bin/*.bpf.o; do
  # what the one before said must not be read as this one's
  rm -f out
  bin/recorder raw/alone.bin "$probe" > out 2>&1 &
  until grep -qs attached out || ! kill -0 $!; do sleep 0.1; done
  kill -INT $!
  wait $! || exit 1
  echo "$probe: $(cat out)"
done

start() { # name, options: all probes, into raw/NAME.bin
  name=$1
  shift
  bin/recorder "$@" "raw/$name.bin" bin/*.bpf.o > "$name.out" 2>&1 &
  until grep -qs attached "$name.out" || ! kill -0 $!; do sleep 0.1; done
}
write_some() { # how often
  for _ in $(seq "$1"); do
    dd if=/dev/zero of=/mnt/target/some bs=4k count=4 conv=fsync 2> /dev/null
  done
}
# A ring of 256 is drained several times beside one that holds all; and once not at all.
sync
start small -r 256
small=$!
start large
large=$!
write_some 60
kill -INT $large && wait $large && kill -INT $small && wait $small || exit 1
start lost -r 256
lost=$!
kill -STOP $lost
write_some 60
kill -CONT $lost
kill -INT $lost && wait $lost || exit 1

refused() { # why, command
  echo "$1:"
  shift
  timeout 60 "$@" > out 2> said
  if [ $? -ne 1 ] || [ -e raw/probes.bin ]; then
    echo "NOT REFUSED"
    exit 1
  fi
  cat out said
}
refused 'no arguments' bin/recorder
refused 'no power of two' bin/recorder -r 100 raw/probes.bin bin/ext4.bpf.o
refused 'no such folder' bin/recorder none/probes.bin bin/ext4.bpf.o
refused 'no such probe' bin/recorder raw/probes.bin bin/none.bpf.o
head -c 4000 bin/ext4.bpf.o > cut.bpf.o
refused 'a probe cut short' bin/recorder raw/probes.bin cut.bpf.o
refused 'no probe' bin/recorder raw/probes.bin bin/recorder
# a function that the kernel does not have
sed 's/blkdev_issue_flush/blkdev_issue_flusk/g' bin/flush.bpf.o > unknown.bpf.o
refused 'no such function' bin/recorder raw/probes.bin bin/ext4.bpf.o unknown.bpf.o
# a field that the kernel does not have
sed 's/s_dev/s_dew/g' bin/ext4.bpf.o > field.bpf.o
refused 'no such field' bin/recorder raw/probes.bin field.bpf.o
refused 'a probe twice' bin/recorder raw/probes.bin bin/ext4.bpf.o bin/ext4.bpf.o
mkdir full
mount -t tmpfs -o size=4k tmpfs full
rm -f out
bin/recorder full/probes.bin bin/*.bpf.o > out 2> said &
until grep -qs attached out || ! kill -0 $!; do sleep 0.1; done
dd if=/dev/zero of=full/rest bs=4k 2> /dev/null
for _ in 1 2 3 4 5 6 7 8; do
  dd if=/dev/zero of=/mnt/target/some bs=4k count=4 conv=fsync 2> /dev/null
done
kill -INT $!
wait $! && exit 1
echo 'disk full:'
cat said
[ ! -e full/probes.bin ]
