#!/usr/bin/env bash
# Put kernel modules into an initramfs in the order in which they are loaded, with those that each needs.
#
# usage: initramfs-modules.sh KERNEL FOLDER MODULE...
#   KERNEL  as a script of kernels/ makes it
#   FOLDER  gets NUMBER-NAME.ko of each
set -euo pipefail
kernel=$1 folder=$2
shift 2
release=$(ls "$kernel/lib/modules")
number=10
for module in "$@"; do
  needed=$(/sbin/modprobe -d "$kernel" -S "$release" --show-depends "$module")
  while read -r what file; do
    [ "$what" = insmod ] || continue
    name=$(basename "$file")
    # some kernels' are compressed
    if ! compgen -G "$folder/*-${name%.xz}" > /dev/null; then
      case $name in
        *.xz) xz -dc "$file" > "$folder/$number-${name%.xz}" ;;
        *) cp "$file" "$folder/$number-$name" ;;
      esac
      number=$((number + 1))
    fi
  done <<< "$needed"
done
