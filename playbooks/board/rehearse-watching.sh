#!/bin/sh
# Start and stop all observers once without a load, so that everything that watching reads is in memory
# (reason: prepare.yml). Once per board, as attaching the probes takes a while.
# usage: rehearse-watching.sh DEVICE PROBE,... OBSERVER...
set -eu
cd /run/commitpath
device=${1##*/} probes=$2
shift 2
printf "DEVICE_NAME=%s\nPROBES=%s\nOBSERVERS='%s'\n" "$device" "$probes" "$*" > cell.env
sh watch.sh start
sh watch.sh stop
rm watch.env root_reads
