#!/usr/bin/env bash
# Copy kernel modules and their dependencies into an initramfs, numbered in loading order.
#
# usage: initramfs-modules.sh KERNEL FOLDER MODULE...
#   KERNEL  made by a script of kernels/
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
    # some kernels' modules are compressed
    if ! compgen -G "$folder/*-${name%.xz}" > /dev/null; then
      case $name in
        *.xz) xz -dc "$file" > "$folder/$number-${name%.xz}" ;;
        *) cp "$file" "$folder/$number-$name" ;;
      esac
      number=$((number + 1))
    fi
  done <<< "$needed"
done
