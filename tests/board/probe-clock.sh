#!/bin/sh
# The probes' clock on the board: the probes use it, and do not where the kernel's goes another pace.
# Environment of the run: cell.env.
set -eu
cd /run/commitpath
clock=/sys/module/probes/parameters/clock
# as on a board that goes on after its run: no observer leaves its module
sed -i 's/^CLOCK=.*/CLOCK=real/' cell.env

# refused COMMAND...: it must fail
refused() {
  if "$@"; then
    echo "probe-clock: it did not fail: $*"
    exit 1
  fi
}

cat $clock
sh watch.sh start
# a program that calls it holds the module
echo "held by $(cat /sys/module/probes/refcnt)"
sh watch.sh stop
# 10 001 µs in 10 ms, a while
busybox adjtimex -t 10001 > /dev/null
sleep 0.1
refused cat $clock
refused sh watch.sh start
# the observers that began before the probes; and the clock is no better
refused sh watch.sh stop
# without the module the probes take the kernel's clock, whatever its pace; their programs let go of it
# a while after they ended
until [ "$(cat /sys/module/probes/refcnt)" = 0 ]; do sleep 0.1; done
rmmod probes
rm probes.ko
sh watch.sh start
[ ! -e $clock ]
sh watch.sh stop
echo 'probe-clock: done'
