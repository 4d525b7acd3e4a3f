#!/bin/sh
# Unpack the tar that stands behind this script's last line. usage: unpack.sh FOLDER [COMMAND...]
# Says `unpacked`, unless the folder had it all. So files get onto a board by Ansible's script
# module: its others start a Python there, which takes an emulated CPU six seconds each time.
# With CHECK=1 the folder stays as it is: what would be written is said, with DIFF=1 line by line, and
# COMMAND is run in a copy elsewhere.
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
