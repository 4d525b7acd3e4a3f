# Populate the database with the driver, and run the driver: the load of a cell. populate: environment
# MOUNTPOINT POPULATE_OPTIONS REHEARSAL_OPTIONS. run_load: variables of cell.env and run-cell.sh.
# shellcheck shell=sh

populate() {
  # shellcheck disable=SC2086  # lists of options
  /run/commitpath/bin/driver populate --database "$MOUNTPOINT/db/sample.db" $POPULATE_OPTIONS
  # shellcheck disable=SC2086
  # the rehearsal's own database, in memory
  /run/commitpath/bin/driver populate --database /run/commitpath/rehearsal.db $REHEARSAL_OPTIONS
}

run_load() {
  # shellcheck disable=SC2086  # lists of options; a watched run also records the engine's calls, if it can
  "$folder/bin/driver" run $DRIVER_OPTIONS ${PROBES:+$WATCHED_OPTIONS} --output-dir "$raw/driver" \
    --device-stat "/sys/class/block/$DEVICE_NAME/stat" --announce /dev/console --start-on-second
}

record_load() { :; }
