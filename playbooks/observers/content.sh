# Record the data of each write to the device, by content.ko (probes/content/). Environment: RAW DEVICE_NAME.
# shellcheck shell=sh
log=/sys/kernel/debug/content

check() {
  [ -e /run/commitpath/content.ko ] || lack "content.ko was not built for its kernel"
  [ -d /sys/kernel/debug/block ] || lack "debugfs is not on /sys/kernel/debug"
}

start() {
  # the disk's folder, for a partition too
  disk=$(readlink -f "/sys/class/block/$DEVICE_NAME")
  [ -d "$disk/queue" ] || disk=${disk%/*}
  IFS=: read -r major minor < "$disk/dev"
  insmod /run/commitpath/content.ko "major=$major" "minor=$minor"
}

ready() { [ -e $log ]; }

# a board in virtual time ends with its run: to free the log's 512 MiB first takes it a quarter of a second
stop() {
  [ ! -e $log ] || { cat $log > "$RAW/content.bin" && { [ "${CLOCK:-}" = virtual ] || rmmod content; }; }
}

said() { dmesg | sed -n 's/.*content: //p' | tail -n 1; }
