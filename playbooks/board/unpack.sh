#!/bin/sh
# Unpack the tar after this script's last line into a folder; with CHECK=1, only print what would change.
# usage: unpack.sh FOLDER [COMMAND...]    prints `unpacked`, unless the folder was up to date
# Ansible's script module transfers files in this way: its other modules start a Python on the board, which
# takes an emulated CPU six seconds each time. With CHECK=1 and DIFF=1 changes are printed line by line; with
# CHECK=1, COMMAND is run in a copy elsewhere.
set -eu
packed() { tail -n +25 "$0"; }
if [ "${CHECK:-}" = 1 ]; then
  copy=$(mktemp -d) folder=$1
  trap 'rm -rf "$copy"' EXIT
  packed | tar -x -C "$copy"
  shift
  cd "$copy"
  find . -type f | sort | while read -r file; do
    cmp -s "$file" "$folder/$file" && continue
    echo "would write $folder/${file#./} ($(stat -c %s "$file") bytes)"
    [ "${DIFF:-}" != 1 ] || [ ! -e "$folder/$file" ] || diff -u -a "$folder/$file" "$file" | head -n 200
  done
  [ $# = 0 ] || "$@"
  exit
fi
packed | tar -d -C "$1" > /dev/null 2>&1 || { packed | tar -x -C "$1"; echo unpacked; }
exit
