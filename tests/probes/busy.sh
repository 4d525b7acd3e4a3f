#!/bin/sh
# On a board whose kernel has no fentry, while four threads write and sync: a recorder begins and ends, ten
# times. Leaves raw/1.bin to raw/10.bin.
set -u
cd /run/commitpath || exit 1
. ./cell.env
rm -rf raw
mkdir raw
write='
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(file, b"x", 0)
    os.fsync(file)
'
busy=''
for n in 1 2 3 4; do
  python3 -c "$write" "$MOUNTPOINT/busy-$n" &
  busy="$busy $!"
done
for n in 1 2 3 4 5 6 7 8 9 10; do
  rm -f out
  bin/recorder "raw/$n.bin" "bin/$FS_TYPE.bpf.o" bin/flush.bpf.o > out 2>&1 &
  recorder=$!
  until grep -qs '^by kprobe' out || ! kill -0 $recorder; do sleep 0.1; done
  sleep 0.5
  kill -INT $recorder
  wait $recorder || { cat out; exit 1; }
done
# shellcheck disable=SC2086 # a list
kill $busy
