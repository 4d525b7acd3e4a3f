#!/bin/sh
# Each journal_mode with each synchronous, under one attached sync probe: what the probe
# saw in each transaction is compared with the table by test_known_answers.py.
# MODES and LEVELS come from modes.env.
set -eu
folder=/run/commitpath
. "$folder/cell.env"
. "$folder/modes.env"
raw="$folder/raw"
rm -rf "$raw"
mkdir -p "$raw"
"$folder/bin/recorder" "$raw/probes.bin" "$folder/bin/ext4.bpf.o" > recorder.out &
recorder=$!
until grep -q attached recorder.out; do
  kill -0 "$recorder"
  sleep 0.1
done
for mode in $MODES; do
  for level in $LEVELS; do
    database=$MOUNTPOINT/db/table.db
    rm -f "$database"*
    "$folder/bin/driver" populate --database "$database" --rows 100
    "$folder/bin/driver" run --database "$database" --rows 100 --n 5 --journal-mode "$mode" \
      --synchronous "$level" --output-dir "$raw/$mode-$level" --seed 3
  done
done
kill -INT "$recorder"
wait "$recorder"
