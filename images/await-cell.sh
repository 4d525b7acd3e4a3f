#!/bin/sh
# Wait for a cell, run it, send what it left, and power off.
#
# The snapshot of a prepared board is taken while this waits. After a restore the
# host's fw_cfg item holds a cell instead of nothing, and the guest finds it at its
# next whole second. So the host sends nothing into the board, at no random moment:
# the same snapshot and cell give the same instructions, to the last one.
#
# The item: "cell", a newline, the length of a tar in bytes, a newline, the tar.
set -u
item=/sys/firmware/qemu_fw_cfg/by_name/opt/commitpath/cell/raw
out=/dev/virtio-ports/commitpath.out
folder=/run/commitpath

# No network from here on: let the SSH session that started this end first.
sleep 2
ip link set eth0 down
sleep 1
echo 'await-cell: ready'
while [ "$(head -c 4 $item)" != cell ]; do
  sleep "$(awk '{ print 1 - ($1 - int($1)) }' /proc/uptime)"
done

length=$(head -n 2 $item | tail -n 1)
tail -c +$((7 + ${#length})) $item | head -c "$length" | tar -x -C "$folder"
sh "$folder/run-cell.sh" > "$folder/run-cell.log" 2>&1
echo $? > "$folder/run-cell.status"
cd "$folder" && tar -c -f - run-cell.log run-cell.status raw > $out
sync
busybox poweroff -f
