#!/bin/sh
# Check that a board is free, is arm64, runs us as root and has the programs for a run; reserve it for OWNER.
# usage: check-board.sh OWNER
# Prints one line for each missing thing; `taken` if it was free. With CHECK=1 it is not reserved.
owner=${1:-}
missing=0
lack() {
  echo "check-board: $1" >&2
  missing=1
}
# holder: who has the board, and for how long
holder() {
  by=$(cat $folder/made-by-commitpath)
  if [ -e $folder/lease ] && left=$(sh $folder/lease.sh left) && [ "$left" -gt 0 ]; then
    echo "$by holds the board; its lease ends in $left s"
  else
    echo "$by uses the board; if it no longer does: unmount its mounts, rm -r $folder"
  fi
}
machine=$(uname -m)
[ "$machine" = aarch64 ] || lack "it is $machine; a board is arm64 (aarch64)"
[ "$(id -u)" = 0 ] || lack "not root: mounts and observers need it"
for program in blkid partx wipefs mount awk tar pkill ps setsid; do
  command -v $program > /dev/null || lack "$program is not installed"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null ||
  lack "Python 3.9 or newer is not installed"
# an existing folder is used only if it is ours or empty: teardown.sh deletes it
folder=/run/commitpath
if [ -e $folder ] || [ -L $folder ]; then
  if [ -L $folder ] || [ ! -d $folder ] || awk -v at=$folder '$5 == at { found = 1 } END { exit !found }' /proc/self/mountinfo; then
    lack "$folder exists, and is not commitpath's folder"
  elif [ ! -e $folder/made-by-commitpath ] && [ -n "$(ls -A $folder)" ]; then
    lack "$folder exists, with files that commitpath did not make"
  elif [ -e $folder/made-by-commitpath ] && [ "$(cat $folder/made-by-commitpath)" != "$owner" ]; then
    lack "$(holder)"
  fi
fi
[ $missing = 0 ] || exit 1
if [ "${CHECK:-}" = 1 ]; then
  [ -e $folder/made-by-commitpath ] || echo "would take the board for $owner, and hold it by a lease"
  exit
fi
mkdir -p $folder
# of two concurrent calls, one makes the file
if (set -C && printf %s "$owner" > $folder/made-by-commitpath) 2> /dev/null; then
  cat /proc/sys/kernel/random/boot_id > $folder/boot_id
  # Debian's initramfs mounts /run noexec, so programs go to a tmpfs of their own
  printf '#!/bin/sh\n' > $folder/runs && chmod +x $folder/runs
  if ! $folder/runs 2> /dev/null; then
    mkdir $folder/bin
    mount -t tmpfs -o nodev,nosuid,mode=0755 commitpath $folder/bin ||
      lack "$folder is on a noexec mount, and no tmpfs can be mounted in it"
  fi
  rm $folder/runs
  echo taken
elif [ ! -s $folder/made-by-commitpath ]; then
  rm -f $folder/made-by-commitpath
  rmdir $folder
  lack "$folder cannot be written to: $(df -m /run | awk 'NR == 2 { print $4 }') MiB of /run are free"
elif [ "$(cat $folder/made-by-commitpath)" != "$owner" ]; then
  lack "$(cat $folder/made-by-commitpath) has just taken the board"
fi
exit $missing
