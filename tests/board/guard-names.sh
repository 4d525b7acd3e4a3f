# shellcheck shell=sh disable=SC2154,SC2034,SC2086
# Cases of guard.sh: what a device is called.

# -- names
disk
try 'another label' "label is 'other', not 'commitpath'" DEVICE="$one"
gone
disk linux commitpath
try 'label twice' "loop.*p1 has the GPT label 'commitpath' too"
gone
disk
printf 'size=90M\n' | sfdisk -q -N 2 --no-reread --no-tell-kernel --force "$disk" 2> /dev/null
try 'another table' 'partition table differs from the kernel'
gone
