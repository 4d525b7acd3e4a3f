#!/bin/sh
# Load the kernel modules that every virtual board has (images/modules/): before its device, and before anything
# watches it. Says in one line why one does not load.
set -eu
for module in /run/commitpath/modules/*.ko; do
  [ -e "$module" ] || continue
  name=$(basename "$module" .ko)
  [ ! -d "/sys/module/$name" ] || continue
  said=$(insmod "$module" 2>&1) || {
    why=$(dmesg | sed -n "s/.*$name: //p" | tail -n 1)
    echo "load-modules: $name: ${why:-$said}" >&2
    exit 1
  }
done
