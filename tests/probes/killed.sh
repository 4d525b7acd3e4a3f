#!/bin/sh
# On a board whose kernel has no fentry: a recorder that is killed leaves its kprobes behind, and the
# next one takes them away. Prints how many there are, of flush.bpf.o's two: after the kill, with the
# next one, after that.
set -u
cd /run/commitpath || exit 1
rm -rf raw
mkdir raw

begin() {
  rm -f out
  bin/recorder raw/probes.bin bin/flush.bpf.o > out 2>&1 &
  until grep -qs '^by' out || ! kill -0 $!; do sleep 0.1; done
}
count() { grep -c commitpath/ /sys/kernel/tracing/kprobe_events; }

begin
cat out
kill -KILL $!
# the shell says that it was killed
wait $! 2> /dev/null
count
begin
count
kill -INT $!
wait $! || exit 1
count
