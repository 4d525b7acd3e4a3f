# shellcheck shell=sh
# The recorder with the probes of the cell. Environment: BIN RAW PROBES.

check() {
  [ -r /sys/kernel/btf/vmlinux ] || lack "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
  [ -d /sys/kernel/tracing/events ] || lack "tracefs is not mounted on /sys/kernel/tracing"
  python3 -c 'import ctypes; ctypes.CDLL("libbpf.so.1")' 2> /dev/null ||
    lack "libbpf.so.1 (libbpf1) is not installed"
}

start() {
  # the rehearsal left one, which says that it attached
  rm -f recorder.out
  observe record
}

record() {
  files=''
  for probe in $(echo "$PROBES" | tr ',' ' '); do files="$files $BIN/$probe.bpf.o"; done
  # shellcheck disable=SC2086  # a list of files
  exec "$BIN/recorder" "$RAW/probes.bin" $files > recorder.out 2> recorder.err
}

# how many are attached, run-cell.sh writes down
ready() {
  grep -qs '^attached' recorder.out && sed -n 's/^attached /attached=/p' recorder.out >> watch.env
}

stop() { ended; }
said() { cat recorder.err; }
