#!/bin/bash
# Measure a raw device with fio: reads and writes of 4 and 128 KiB, queue depths, syncs. Destroys its data.
# usage: calibrate.sh CALIBRATE.FIO DEVICE > raw.json
#
# Prints a JSON object: {measure: {depth, fio: fio's job, stats: the device's counters}};
# analysis/instrument/calibration.py makes a table from it.
set -euo pipefail
jobs=$1
export DEVICE=$2
test -b "$DEVICE"

# NAME:SECTION:DEPTH
list=()
for section in read_random_4k write_random_4k; do
  for depth in 1 2 4 8 16 32; do list+=("${section}_qd$depth:$section:$depth"); done
done
for section in read_sequential_4k write_sequential_4k read_sequential_128k write_sequential_128k; do
  list+=("$section:$section:1")
done
for section in read_sequential_128k write_sequential_128k; do list+=("${section}_qd32:$section:32"); done
list+=(write_fdatasync_4k:write_fdatasync_4k:1 write_fua_4k:write_fua_4k:1)

out=$(mktemp)
separator='{'
for entry in "${list[@]}"; do
  IFS=: read -r name section DEPTH <<< "$entry"
  export DEPTH
  # blocks of an earlier measurement must not slow this one
  [ "$(cat "/sys/block/${DEVICE#/dev/}/queue/discard_max_bytes")" = 0 ] || blkdiscard -f "$DEVICE"
  sh device.sh reset
  fio --output-format=json --output="$out" --section="$section" "$jobs"
  printf '%s"%s": {"depth": %s, "fio": ' "$separator" "$name" "$DEPTH"
  # fio prints other text before the object
  sed -n '/^{/,$p' "$out"
  printf ', "stats": {'
  sh device.sh counters | sed 's/\(.*\)=\(.*\)/"\1": \2/' | paste -sd,
  printf '}}'
  separator=$',\n'
done
echo '}'
rm "$out"
