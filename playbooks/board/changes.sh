# Change files of /proc and /sys for a while, and put the old values back. A change is recorded before it is
# made, so that it can be reverted after the script that made it was killed. Sourced.
# shellcheck shell=sh

# a line each: `value FILE OLD`, `frozen FOLDER`
changes=/run/commitpath/changes

# change FILE VALUE: write into a file of /proc or /sys
change() {
  old=$(cat "$1") && echo "value $1 $old" >> "$changes" && echo "$2" > "$1"
}

# freeze_and_thaw FOLDER: the filesystem mounted there
freeze_and_thaw() {
  echo "frozen $1" >> "$changes" && fsfreeze -f "$1" && fsfreeze -u "$1"
}

# put_back [FILE]: restore everything recorded, or only that file, to the state before the first change;
# fails if something could not be restored
put_back() {
  [ -e "$changes" ] || return 0
  left=0 seen=' '
  while read -r what name old; do
    [ "${1:-$name}" = "$name" ] || continue
    case $what,$seen in
    # usually it is no longer frozen
      frozen,*) fsfreeze -u "$name" 2> /dev/null || : ;;
      value,*" $name "*) ;;
      value,*)
        seen="$seen$name "
        echo "$old" > "$name" || { echo "changes: $name was $old, and could not be restored" >&2; left=1; }
        ;;
    esac
  done < "$changes"
  return $left
}
