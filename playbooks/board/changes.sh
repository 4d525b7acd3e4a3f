# shellcheck shell=sh
# What is changed of the system for a while. Each change is noted before it is made, so that whoever
# comes after a script that was killed can put it back. Sourced.

# a line each: `value FILE OLD`, `frozen FOLDER`
changes=/run/commitpath/changes

# change FILE VALUE: write into a file of /proc or /sys
change() {
  old=$(cat "$1") && echo "value $1 $old" >> "$changes" && echo "$2" > "$1"
}

# freeze_and_thaw FOLDER: what is mounted there
freeze_and_thaw() {
  echo "frozen $1" >> "$changes" && fsfreeze -f "$1" && fsfreeze -u "$1"
}

# put_back [FILE]: all that is noted, or only that file, as it was before its first change; fails if
# something could not be
put_back() {
  [ -e "$changes" ] || return 0
  left=0 seen=' '
  while read -r what name old; do
    [ "${1:-$name}" = "$name" ] || continue
    case $what,$seen in
      # most often it was thawed long ago
      frozen,*) fsfreeze -u "$name" 2> /dev/null || : ;;
      value,*" $name "*) ;;
      value,*)
        seen="$seen$name "
        echo "$old" > "$name" || { echo "changes: $name was $old, and is not put back" >&2; left=1; }
        ;;
    esac
  done < "$changes"
  return $left
}
