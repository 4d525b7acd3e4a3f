# shellcheck shell=sh
# The load of `make watch`: a command, in a folder of the target filesystem. populate: environment
# MOUNTPOINT BOARD_KIND. run_load and record_load: variables of cell.env and run-cell.sh.

populate() {
  # what the command is given stands beside what it writes
  [ ! -d /run/commitpath/given ] || cp -p /run/commitpath/given/bin/* "$MOUNTPOINT/db/"
  # In virtual time what it reads of the root disk must be in memory, and nobody knows what that is. A lab
  # board's root is its own affair.
  [ "$BOARD_KIND" != virtual ] || find / -xdev -type f -exec cat {} + > /dev/null
}

run_load() {
  # a program's temporary files, as SQLite's
  export TMPDIR="$DATABASE_FOLDER"
  # a watched run notes the transactions of engines that can be told them
  preloads=$(printf '%s:' "$folder"/bin/preload/*.so)
  "$folder/bin/command" --folder "$DATABASE_FOLDER" --output-dir "$raw/driver" \
    --device-stat "/sys/class/block/$DEVICE_NAME/stat" --announce /dev/console \
    ${PROBES:+--preload "$preloads"} -- "$COMMAND"
}

# what the files that are left begin with, a line each: inode, size, up to 16 bytes in hex digits
record_load() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  find "$DATABASE_FOLDER" -type f -exec sh -c 'for file; do
    echo "$(stat -c "%i %s" "$file") $(head -c 16 "$file" | od -A n -t x1 | tr -d " \n")"
  done' sh {} + > "$1/heads.txt"
}
