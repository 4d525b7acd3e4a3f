#!/bin/sh
# Load the kernel modules of every virtual board (images/modules/), before its device is made and before anything
# watches. Prints one line if a module does not load.
set -eu
for module in /run/commitpath/modules/*.ko; do
  [ -e "$module" ] || continue
  name=$(basename "$module" .ko)
  [ ! -d "/sys/module/$name" ] || continue
  output=$(insmod "$module" 2>&1) || {
    why=$(dmesg | sed -n "s/.*$name: //p" | tail -n 1)
    echo "load-modules: $name: ${why:-$output}" >&2
    exit 1
  }
done
