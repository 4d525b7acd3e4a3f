# Run the user's bpftrace script during a run: observers/bpftrace.bt; that file here is only for rehearsals.
# Environment: RAW.
# shellcheck shell=sh

check() {
  needs_program bpftrace
  [ -r /sys/kernel/btf/vmlinux ] || lack "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
}

start() { observe trace; }

# in a run everything that it reads from the board's root must be in memory before (ready)
trace() {
  exec bpftrace -o "$RAW/bpftrace.txt" observers/bpftrace.bt > "$RAW/bpftrace.out" 2> "$RAW/bpftrace.err"
}

# it waits for events once everything is attached
ready() {
  read -r pid _ < bpftrace.pid
  grep -qsE "ep_poll|epoll_wait" "/proc/$pid/wchan" || return
  awk '$6 ~ "^/" { print $6 }' "/proc/$pid/maps" | sort -u | xargs cat > /dev/null
}

stop() { ended; }
said() {
  grep -h -m 1 ERROR "$RAW/bpftrace.err" "$RAW/bpftrace.out" ||
    sed '/^[[:space:]]*$/d' "$RAW/bpftrace.out" "$RAW/bpftrace.err" | tail -n 1
  [ ! -s bpftrace.status ] || [ -s "$RAW/bpftrace.err" ] || echo "bpftrace ended with $(cat bpftrace.status)"
}
