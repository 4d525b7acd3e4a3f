# Record the device's commands with blktrace during a run. Environment: BIN RAW DEVICE_NAME.
# shellcheck shell=sh

check() {
  needs_program blktrace
  [ -d /sys/kernel/debug/block ] || lack "debugfs is not on /sys/kernel/debug, or the kernel has no blktrace"
}

start() {
  mkdir "$RAW/blktrace"
  observe trace
}

# Each full buffer wakes it, on the CPU that the workload needs. So there are two buffers of 16 MiB, and one
# holds a run of 3 x 1000; of several CPUs each has its own two, of a share of that memory. Before a command's
# issue only events of writes' bios are traced: the kernel traces whole categories, and these masks leave out
# plugging, a sixth of all events.
trace() {
  # it would lock 256 MiB into memory (probes/blktrace.preload.c)
  LD_PRELOAD=$BIN/blktrace.so exec blktrace -d "/dev/$DEVICE_NAME" -D "$RAW/blktrace" -o "$DEVICE_NAME" \
    -a write -a issue -a requeue -a complete -b $((16384 / $(nproc))) -n 2 > "$RAW/blktrace/blktrace.out" 2>&1
}

ready() { [ -e "/sys/kernel/debug/block/$DEVICE_NAME/trace0" ]; }
stop() { ended; }
said() { cat "$RAW/blktrace/blktrace.out"; }
