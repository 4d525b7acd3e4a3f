# Record a run with the cell's eBPF probes, by probes/recorder.c; check the probes' clock before and after.
# The clock is checked if the board has its module (probes/probes/). Environment: BIN RAW PROBES.
# shellcheck shell=sh
clock=/sys/module/probes/parameters/clock

check() {
  [ -r /sys/kernel/btf/vmlinux ] || lack "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF): PROBES=none times a cell, and records what the device counted"
  [ -d /sys/kernel/tracing/events ] || lack "tracefs is not mounted on /sys/kernel/tracing"
  # probes/bio.bpf.c
  needs_program getconf
  page=$(getconf PAGESIZE)
  [ "$page" = 4096 ] || lack "the kernel's pages have $page bytes, and the probes need 4096: PROBES=none times a cell; a Raspberry Pi 5 has such a kernel, kernel=kernel8.img in config.txt"
}

start() {
  # loaded already by the rehearsal
  [ -e $clock ] || [ ! -e /run/commitpath/probes.ko ] || insmod /run/commitpath/probes.ko || return
  prove || return
  # remove the last one, which reports that it attached
  rm -f recorder.out
  observe record
}

prove() {
  [ ! -e $clock ] || cat $clock > /dev/null || {
    dmesg | sed -n 's/.*probes: //p' | tail -n 1
    return 1
  }
}

record() {
  files=''
  for probe in $(echo "$PROBES" | tr ',' ' '); do files="$files $BIN/$probe.bpf.o"; done
  # shellcheck disable=SC2086  # a list of files
  exec "$BIN/recorder" "$RAW/probes.bin" $files > recorder.out 2> recorder.err
}

# run-cell.sh records how many are attached, and how
ready() {
  grep -qs '^by' recorder.out && sed -n 's/^attached /attached=/p; s/^by /attached_by=/p' recorder.out >> watch.env
}

stop() { ended && prove; }
said() { cat recorder.err; }
