#!/bin/sh
# Give a device its profile's time: it is made as fast as it can be, for the preparation.
# Reads /run/commitpath/cell.env. Ends with the model's counters at zero and its cache clean.
set -eu
. /run/commitpath/cell.env
for parameter in $DEVICE_TIMING; do
  echo "${parameter#*=}" > "$DEVICE_PARAMETERS/${parameter%%=*}"
done
[ ! -e "/sys/block/$DEVICE_NAME/flash/reset" ] || echo 1 > "/sys/block/$DEVICE_NAME/flash/reset"
