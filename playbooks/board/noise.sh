#!/bin/sh
# Verify the partition, make a filesystem on it as for a run, and measure its noise in a file there.
# Prints a JSON object: noise.py's output, or why the partition may not be formatted.
# Environment: as format_device.py, LEASE_SECONDS. Needs /run/commitpath.
cd /run/commitpath || exit 1
sh lease.sh renew "$LEASE_SECONDS" || exit 1
if ! python3 format_device.py > format.log 2>&1; then
  python3 -c 'import json, sys; print(json.dumps({"refused": sys.stdin.read().strip().splitlines()[-1]}))' < format.log
  exit
fi
python3 noise.py "$MOUNTPOINT"
