#!/bin/sh
# Watch nothing for a moment, so that what watching reads is in memory afterwards (prepare.yml
# says why). Once for all that is prepared on a board, as the probes take a while to attach.
# usage: rehearse-watching.sh DEVICE PROBE,... OBSERVER...
set -eu
cd /run/commitpath
device=${1##*/} probes=$2
shift 2
printf "DEVICE_NAME=%s\nPROBES=%s\nOBSERVERS='%s'\n" "$device" "$probes" "$*" > cell.env
sh watch.sh start
sh watch.sh stop
rm watch.env root_reads
