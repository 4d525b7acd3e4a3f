#!/bin/sh
# Watch nothing for a moment, so that what watching reads is in memory afterwards (prepare.yml
# says why). Once for all that is prepared on a board, as the probes take a while to attach.
# usage: rehearse-watching.sh DEVICE PROBE,...
set -eu
cd /run/commitpath
printf 'DEVICE_NAME=%s\nPROBES=%s\nBLKTRACE=yes\n' "${1##*/}" "$2" > cell.env
sh watch.sh start
sh watch.sh stop
rm watch.env root_reads
