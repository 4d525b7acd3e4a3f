# Copy given files to the target filesystem, run a user's command there, list the files that it leaves: the
# load of `make watch`. populate: environment MOUNTPOINT BOARD_KIND. run_load and record_load: variables of
# cell.env and run-cell.sh.
# shellcheck shell=sh

populate() {
  # files given to the command lie in the folder that it writes to
  [ ! -d /run/commitpath/given ] || cp -p /run/commitpath/given/bin/* "$MOUNTPOINT/db/"
  # In virtual time everything that it may read from the root disk must be in memory. A lab board's root is not
  # measured.
  [ "$BOARD_KIND" != virtual ] || find / -xdev -type f -exec cat {} + > /dev/null
}

run_load() {
  # temporary files, like SQLite's
  export TMPDIR="$DATABASE_FOLDER"
  # a watched run records transactions of engines with a preload
  preloads=$(printf '%s:' "$folder"/bin/preload/*.so)
  "$folder/bin/command" --folder "$DATABASE_FOLDER" --output-dir "$raw/driver" \
    --device-stat "/sys/class/block/$DEVICE_NAME/stat" --announce /dev/console \
    ${PROBES:+--preload "$preloads"} -- "$COMMAND"
}

# for each remaining file a line: inode, size, the first 16 bytes in hex digits
record_load() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  find "$DATABASE_FOLDER" -type f -exec sh -c 'for file; do
    echo "$(stat -c "%i %s" "$file") $(head -c 16 "$file" | od -A n -t x1 | tr -d " \n")"
  done' sh {} + > "$1/heads.txt"
}
