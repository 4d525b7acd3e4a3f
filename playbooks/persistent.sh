#!/bin/sh
# Make a filesystem in the persistent memory of the device tree (images/devicetree.py), and mount it.
# usage: persistent.sh FOLDER
set -eu
folder=$1
modprobe -a of_pmem nd_pmem
# libnvdimm probes asynchronously
for _ in $(seq 100); do
  [ ! -b /dev/pmem0 ] || break
  sleep 0.1
done
[ -b /dev/pmem0 ] || { echo "persistent: the kernel finds no persistent memory" >&2; exit 1; }
# no periodic writes during a run, as on the board's own device
mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/pmem0
mkdir "$folder"
mount -t ext4 -o dax=always,noatime /dev/pmem0 "$folder"
