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
cat "$folder/probes/frame.bt" "$folder/probes/sync.bt" > "$folder/sync_table.bt"
__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace "$folder/sync_table.bt" > "$raw/probes.txt" &
probes=$!
until grep -q __BPFTRACE $raw/probes.txt; do sleep 0.1; done
kill -USR1 "$probes"
until grep -q '^attached' $raw/probes.txt; do sleep 0.1; done
for mode in $MODES; do
  for level in $LEVELS; do
    database=$MOUNTPOINT/db/table.db
    rm -f "$database"*
    "$folder/bin/driver" populate --database "$database" --rows 100
    "$folder/bin/driver" run --database "$database" --rows 100 --n 10 --journal-mode "$mode" \
      --synchronous "$level" --output-dir "$raw/$mode-$level" --seed 3
  done
done
kill -INT "$probes"
wait "$probes"
