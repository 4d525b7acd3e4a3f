#!/bin/sh
# Ready the board for its snapshot and wait for the host: attach probes; run a cell, send results, power off.
#
# Snapshots of a prepared board are taken while this waits. After a restore the host's fw_cfg item holds
# a cell, and the guest finds it at its next whole second. The host sends the guest no input, so the same
# snapshot and cell execute the same instructions.
#
# The item: a word, a newline, the length of a tar in bytes, a newline, the tar. Words:
#   none  wait; the tar is for a rehearsal
#   arm_  attach the tar's probes, report it on the console, and wait on
#   cell  run the tar's cell
set -u
item=/sys/firmware/qemu_fw_cfg/by_name/opt/commitpath/cell/raw
out=/dev/virtio-ports/commitpath.out
folder=/run/commitpath

word() { head -c 4 $item; }

# No more than that is read: the kernel reads each page of the item from its first byte on.
receive() {
  length=$(head -n 2 $item | tail -n 1)
  head -c $((6 + ${#length} + length)) $item | tail -c "$length" | tar -x -C $folder
}

next_second() { sleep "$(awk '{ print 1 - ($1 - int($1)) }' /proc/uptime)"; }

# From here on the root disk must not be read: host read latency is not deterministic (run-cell.sh counts
# reads). The count comes from the shell itself, as another program might have to be loaded from there.
note_root_reads() {
  read -r reads _ < /sys/block/vda/stat
  echo "$reads" > $folder/root_reads
}

# It polls ten times a second for the host to open its port.
pkill -STOP -x qemu-ga

# No network from here on: let the SSH session that started this end first, and end Ansible's.
sleep 2
pkill -x sshd-session
ip link set eth0 down
sleep 1

# Once, so that all that it needs is in memory.
word > /dev/null
receive
next_second
note_root_reads
echo 'await-cell: ready'
armed=
until [ "$(word)" = cell ]; do
  if [ "$(word)" = arm_ ] && [ -z "$armed" ]; then
    receive
    if sh $folder/watch.sh start > $folder/watch.log 2>&1; then armed=yes; else armed=no; fi
    [ $armed = yes ] || tail -n 1 $folder/watch.log
    note_root_reads
    echo "await-cell: armed: $armed"
  fi
  next_second
done

receive
sh $folder/run-cell.sh > $folder/run-cell.log 2>&1
echo $? > $folder/run-cell.status
# 32 KiB at once, the most that the port takes: each write is an exit of the virtual CPU
cd $folder && tar -c -b 64 -f - run-cell.log run-cell.status raw > $out
sync
busybox poweroff -f
