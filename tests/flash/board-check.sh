#!/bin/bash
# The flashsim module's checks, on the board. Prints a line per check; exit 1 if one failed.
# usage: board-check.sh FLASHSIM.KO POWER_CUT.PY [CHECK...]
#   CHECK: parameters verify unaligned filesystems discard accounting log timing determinism
#          unload power_cut history fault; without any, all of them
# Destroys what is in a flashsim device named target, touches no other.
set -uo pipefail
module=$1 power_cut=$2
shift 2
checks=${*:-parameters verify unaligned filesystems discard accounting log timing determinism unload power_cut history fault}
root=/sys/kernel/config/flashsim
folder=$root/target
flash=/sys/block/target/flashsim
work=$(mktemp -d)
failures=0

# A quick device: what is checked is what it does, not how long it takes.
declare -A base=(
  [seed]=1 [block_bytes]=512 [queue_depth]=32 [write_cache]=1 [fua]=1 [exclusive]=0 [rel_sectors]=0
  [meta_reliable]=0 [discard]=1 [command_ns]=10000 [read_command_ns]=0 [write_command_ns]=0
  [bus_mb_s]=400 [dies]=4 [read_bytes]=16384 [read_ns]=20000 [program_bytes]=32768 [pad_bytes]=0
  [program_ns]=50000 [program_kib_ns]=1000 [slc_program_ns]=0 [cache_kib]=256 [cache_reorder]=0
  [flush_clean_ns]=10000 [flush_dirty_ns]=50000 [flush_dirty_kib_ns]=0 [fua_ns]=20000
  [discard_ns]=10000 [open_units]=0 [unit_kib]=4096 [log_kib]=0 [merge_ns]=0 [merge_spread_ns]=0
  [erase_kib]=4096 [erase_ns]=1000000 [spare_permille]=70 [gc_blocks]=0 [fill_permille]=0
  [overwrite_permille]=0 [map_kib]=0 [slc_mib]=0 [undo_kib]=65536
)
uncached=(write_cache=0 fua=0 cache_kib=0 queue_depth=1)

report() {
  if [ "$1" = 0 ]; then
    echo "ok - $2"
  else
    echo "not ok - $2"
    failures=$((failures + 1))
  fi
}

# is NAME A OPERATOR B
is() {
  test "$2" "$3" "$4"
  report $? "$1 ($2 $3 $4)"
}

# part FILE OFFSET BYTES: the hash of that part
part() { tail -c +$(($2 + 1)) "$1" | head -c "$3" | sha256sum; }

# same FILE FILE OFFSET BYTES: both hold the same there
same() { test "$(part "$1" "$3" "$4")" = "$(part "$2" "$3" "$4")"; }

off() {
  [ ! -d $folder ] || { echo 0 > $folder/power && rmdir $folder; }
}

# fill SECTORS NAME=VALUE...: the folder of a device, with all it needs but power
fill() {
  off
  mkdir $folder
  echo "$1" > $folder/sectors
  for name in "${!base[@]}"; do echo "${base[$name]}" > "$folder/$name"; done
  for change in "${@:2}"; do echo "${change#*=}" > "$folder/${change%%=*}"; done
}

# A job on a device that is not there would make a file of that name.
on() {
  if ! fill "$@" || ! echo 1 > $folder/power || ! test -b /dev/target; then
    echo "not ok - a device starts with $*"
    exit 1
  fi
}

counter() { sed -n "s/^$1=//p" $flash/stats; }

# refused MESSAGE FILE VALUE: the write fails with that error
refused() {
  local said
  said=$(LC_ALL=C bash -c 'echo "$2" > "$1"' - "$2" "$3" 2>&1)
  [[ $said == *"$1"* ]]
}

job() {
  fio --filename=/dev/target --direct=1 --ioengine=libaio --clocksource=clock_gettime --randseed=7 \
    --allrandrepeat=1 --name=job "$@" > "$work/fio" 2>&1 || { tail -n 5 "$work/fio"; return 1; }
}

# fails COMMAND...: it does
fails() { ! "$@" 2>/dev/null; }

# no kernel message but those that match PATTERN
quiet() {
  local said
  said=$(dmesg -l emerg,alert,crit,err,warn | grep -v -e "${2:-^$}")
  dmesg -C
  [ -z "$said" ] || echo "$said" | head -n 5
  test -z "$said"
  report $? "$1: no warning from the kernel"
}

check_parameters() {
  local bad=() name value change
  fill 262144
  for name in "${!base[@]}" sectors; do
    for value in -1 '' x 1e3 0x 99999999999999 18446744073709551616; do
      refused 'Invalid argument' "$folder/$name" "$value" || bad+=("$name=$value")
    done
    [ "$(cat "$folder/$name")" = "${base[$name]:-262144}" ] || bad+=("$name changed")
  done
  report ${#bad[@]} "parameters: what is not a number in its range is refused ${bad[*]}"

  bad=()
  for name in "${!base[@]}"; do
    off && mkdir $folder && echo 262144 > $folder/sectors
    for value in "${!base[@]}"; do [ "$value" = "$name" ] || echo "${base[$value]}" > "$folder/$value"; done
    refused 'Invalid argument' $folder/power 1 || bad+=("$name")
    dmesg | tail -n 1 | grep -q "target: $name is not set" || bad+=("$name unnamed")
  done
  report ${#bad[@]} "parameters: a device with one missing does not start, and says which ${bad[*]}"

  bad=()
  for change in block_bytes=1024 read_bytes=1000 program_bytes=3000 write_cache=0 cache_kib=16 gc_blocks=999; do
    fill 262144 "$change"
    refused 'Invalid argument' $folder/power 1 || bad+=("$change")
  done
  fill 20003 block_bytes=4096
  refused 'Invalid argument' $folder/power 1 || bad+=("20003 sectors")
  report ${#bad[@]} "parameters: those that do not fit together are refused ${bad[*]}"

  bad=()
  on 262144
  for name in queue_depth dies cache_kib sectors; do
    refused 'Device or resource busy' "$folder/$name" 64 || bad+=("$name")
  done
  echo 77 > $folder/command_ns || bad+=(command_ns)
  [ "$(cat $folder/command_ns)" = 77 ] || bad+=("command_ns reads otherwise")
  report ${#bad[@]} "parameters: times change while in use, geometry does not ${bad[*]}"
  quiet parameters 'flashsim: target: '
}

check_verify() {
  local cache rw bs depth
  for cache in cache_kib=256 cache_reorder=1; do
    on 65536 $cache undo_kib=512
    for rw in write randwrite; do
      for bs in --bs=512 --bs=4k --bs=128k '--bsrange=512-200k --blockalign=512'; do
        for depth in 1 32; do
          # shellcheck disable=SC2086  # options
          job --rw=$rw $bs --iodepth=$depth --size=2m --verify=crc32c --verify_fatal=1 --do_verify=1
          report $? "verify: $rw $bs depth $depth, $cache"
        done
      done
    done
  done
  on 65536 "${uncached[@]}" open_units=4 unit_kib=64 log_kib=64 merge_ns=10000
  job --rw=randrw --bs=4k --iodepth=8 --size=16m --verify=crc32c --verify_fatal=1 --fsync=16 --do_verify=1
  report $? "verify: randrw with fsync, no cache, units"
  on 65536 "${uncached[@]}" erase_kib=64 gc_blocks=2 spare_permille=200
  for _ in 1 2; do dd if=/dev/zero of=/dev/target bs=1M count=32 oflag=direct status=none; done
  job --rw=randrw --bs=4k --iodepth=8 --size=16m --verify=crc32c --verify_fatal=1 --fsync=16 --do_verify=1
  report $? "verify: randrw with fsync, no cache, garbage collection"
  is "verify: garbage was collected" "$(counter gc_bytes)" -gt 0
  quiet verify
}

check_unaligned() {
  on 20003
  is "unaligned: size" "$(blockdev --getsz /dev/target)" = 20003
  job --rw=randwrite --bs=512 --iodepth=32 --io_size=4m --verify=crc32c --verify_fatal=1 --do_verify=1
  report $? "unaligned: verify in 512 bytes to the last sector"
  head -c 512 /dev/urandom > "$work/last"
  dd if="$work/last" of=/dev/target bs=512 seek=20002 oflag=direct status=none
  dd if=/dev/target of="$work/read" bs=512 skip=20002 iflag=direct status=none
  same "$work/read" "$work/last" 0 600
  report $? "unaligned: the last sector holds what was written"
  fails dd if="$work/last" of=/dev/target bs=512 seek=20003 oflag=direct status=none
  report $? "unaligned: no sector after it"
  on 20000 block_bytes=4096
  fails dd if="$work/last" of=/dev/target bs=512 oflag=direct status=none
  report $? "unaligned: a device of 4096-byte blocks refuses 512"
  quiet unaligned
}

check_filesystems() {
  local cache kind fsck status
  mkdir -p "$work/mnt"
  for cache in cache_kib=256 cache_reorder=1 none; do
    for kind in ext4 f2fs; do
      if [ $cache = none ]; then on 524288 "${uncached[@]}"; else on 524288 $cache; fi
      (
        set -e
        mkfs.$kind -q /dev/target
        mount -t $kind /dev/target "$work/mnt"
        for i in 1 2 3 4 5 6; do head -c $((i * 300001)) /dev/urandom > "$work/mnt/$i"; done
        sync -d "$work/mnt/3"
        rm "$work/mnt/2"
        (cd "$work/mnt" && sha256sum -- [0-9]*) > "$work/sums"
        fstrim "$work/mnt" > "$work/trim"
        umount "$work/mnt"
        echo 3 > /proc/sys/vm/drop_caches
        case $kind in ext4) fsck=(e2fsck -f -n) ;; f2fs) fsck=(fsck.f2fs --dry-run) ;; esac
        "${fsck[@]}" /dev/target > "$work/fsck"
        mount -t $kind /dev/target "$work/mnt"
        (cd "$work/mnt" && sha256sum --check --quiet "$work/sums")
        umount "$work/mnt"
      ) > "$work/log" 2>&1
      status=$?
      [ $status = 0 ] || tail -n 3 "$work/log"
      report $status "filesystems: $kind, $cache: mkfs, mount, write, trim, umount, fsck, read again"
      mountpoint -q "$work/mnt" && umount "$work/mnt"
    done
  done
  quiet filesystems
}

# zeros OFFSET BYTES: the device holds zeros there
zeros() { test "$(part /dev/target "$1" "$2")" = "$(part /dev/zero 0 "$2")"; }

check_discard() {
  on 262144
  head -c 16M /dev/urandom > "$work/data"
  dd if="$work/data" of=/dev/target bs=1M oflag=direct conv=fsync status=none
  is "discard: data is held" "$(counter held_bytes)" = 16777216
  blkdiscard -o 4608 -l 7999488 /dev/target && blockdev --flushbufs /dev/target
  zeros 4608 7999488
  report $? "discard: zeros within, at any sector"
  same /dev/target "$work/data" 0 4608 && same /dev/target "$work/data" 8004096 8773120
  report $? "discard: what is around it stays"
  is "discard: memory is given back" "$(($(counter held_bytes) < 8900000))" = 1
  is "discard: counted" "$(counter discard_bytes)" = 7999488
  blkdiscard -z /dev/target -l 1048576 && blockdev --flushbufs /dev/target && zeros 0 1048576
  report $? "discard: writing zeros"
  blkdiscard -f /dev/target
  sync /dev/target
  is "discard: the whole device is empty" "$(counter held_bytes)" = 0
  on 262144 discard=0
  fails blkdiscard /dev/target
  report $? "discard: refused where the device has none"
  quiet discard
}

# field N of /sys/block/target/stat
stat_field() { awk "{ print \$$1 }" /sys/block/target/stat; }

check_accounting() {
  local -A before
  local n cache pair
  for cache in "${base[cache_kib]}" 0; do
    on 262144 cache_kib="$cache"
    echo 1 > $flash/reset
    for n in 1 3 5 7 12 14 16; do before[$n]=$(stat_field $n); done
    job --rw=randrw --bs=4k --size=1m --fdatasync=3 --iodepth=4
    # asynchronous: with psync the kernel sends a FLUSH after each FUA write
    job --rw=write --bs=8k --size=512k --sync=dsync
    blkdiscard -l 1048576 /dev/target
    sync /dev/target
    for pair in 1:reads 12:discards; do
      n=${pair%%:*}
      is "accounting: ${pair#*:}, cache $cache" "$(counter "${pair#*:}")" = $(($(stat_field "$n") - before[$n]))
    done
    for pair in 3:read_bytes 7:write_bytes 14:discard_bytes; do
      n=${pair%%:*}
      is "accounting: ${pair#*:}, cache $cache" "$(counter "${pair#*:}")" = $((512 * ($(stat_field "$n") - before[$n])))
    done
    n=$(($(counter flushes_dirty) + $(counter flushes_clean)))
    # the block layer counts the empty write that asked for a FLUSH as a write
    is "accounting: writes and flushes, cache $cache" $(($(counter writes) + n)) = $(($(stat_field 5) - before[5]))
    is "accounting: flushes, cache $cache" $n = $(($(stat_field 16) - before[16]))
    is "accounting: there were flushes, cache $cache" $n -gt 5
    is "accounting: 64 FUA writes, cache $cache" "$(counter fua_writes)" = 64
    n=$(sed -n 's/^time_[a-z]*_ns=//p' $flash/stats | awk '{ n += $1 } END { printf "%d", n }')
    is "accounting: causes add up, cache $cache" "$(counter time_ns)" = "$n"
  done
  on 262144 "${uncached[@]}"
  echo 1 > $flash/reset
  job --ioengine=psync --rw=write --bs=4k --size=64k --sync=dsync --fsync=1
  is "accounting: a device without cache control gets no FLUSH and no FUA" \
    "$(counter flushes_clean) $(counter flushes_dirty) $(counter fua_writes) $(counter writes)" = "0 0 0 16"
  quiet accounting
}

# logged: what the log says: `entries`, `lost` and each of the stats' counters that it can tell
logged() { python3 - $flash/log << 'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
magic, size, dev, entries, lost = struct.unpack_from("<8sIIQQ", data)
assert (magic, size, len(data)) == (b"CPFLASH1", 32, 32 + 32 * entries), (magic, size, entries, len(data))
rows = list(struct.iter_unpack("<QQQII", data[32:]))
assert all(a[0] <= b[0] for a, b in zip(rows, rows[1:])), "not in order"
assert all(row[0] <= row[1] for row in rows), "done before it came"
def total(operation): return 512 * sum(row[3] for row in rows if row[4] & 255 == operation)
def number(operation): return sum(row[4] & 255 == operation for row in rows)
print(f"entries={entries} lost={lost} dev={dev >> 20}:{dev & 0xfffff} time_ns={sum(r[1] - r[0] for r in rows)}",
      f"reads={number(0)} writes={number(1)} flushes={number(2)} discards={number(3)}",
      f"fua_writes={sum(row[4] == 1 | 1 << 17 for row in rows)}",
      f"read_bytes={total(0)} write_bytes={total(1)} discard_bytes={total(3)}",
      f"flushes_at={sum(row[2] for row in rows if row[4] == 2)}")
PYTHON
}

# counted: the same by the counters
counted() {
  echo "entries=$(counter log_entries) lost=0 dev=$(cat /sys/block/target/dev) time_ns=$(counter time_ns)" \
    "reads=$(counter reads) writes=$(counter writes)" \
    "flushes=$(($(counter flushes_dirty) + $(counter flushes_clean))) discards=$(counter discards)" \
    "fua_writes=$(counter fua_writes) read_bytes=$(counter read_bytes)" \
    "write_bytes=$(counter write_bytes) discard_bytes=$(counter discard_bytes) flushes_at=0"
}

check_log() {
  local said
  on 262144
  job --rw=write --bs=4k --size=64k
  said=$(logged)
  is "log: nothing before the first reset" "${said%% *}" = entries=0
  echo 1 > $flash/reset
  job --rw=randrw --bs=4k --size=2m --fdatasync=3 --iodepth=4
  job --rw=write --bs=8k --size=512k --sync=dsync
  blkdiscard -l 1048576 /dev/target
  sync /dev/target
  is "log: as the counters" "$(logged)" = "$(counted)"
  # over more than one page of entries
  is "log: there were commands" "$(counter log_entries)" -gt 300
  tail -c +1001 $flash/log > "$work/tail"
  cat $flash/log > "$work/whole"
  is "log: read from anywhere" "$(tail -c +1001 "$work/whole" | sha256sum)" = "$(sha256sum < "$work/tail")"
  echo 1 > $flash/power_cut
  dd if=/dev/target of=/dev/null bs=4k count=1 iflag=direct status=none 2> /dev/null
  is "log: a failed command has no end" "$(tail -c 32 $flash/log | od -An -v -t u8 -j 8 -N 8 | tr -d ' ')" = 0
  echo 0 > $flash/power_cut
  echo 1 > $flash/reset
  said=$(logged)
  is "log: empty after a reset" "${said%% *}" = entries=0
  quiet log 'I/O error, dev target'
}

# latency KIND FIELD: fio's mean or least latency in ns
latency() { python3 -c '
import json, sys
job = json.load(open(sys.argv[1]))["jobs"][0][sys.argv[2]]["lat_ns"]
print(int(job[sys.argv[3]]))' "$work/json" "$1" "$2"; }

check_timing() {
  local model rw
  on 262144 "${uncached[@]}" read_ns=3000000 program_ns=5000000
  for rw in randread randwrite; do
    echo 1 > $flash/reset
    job --rw=$rw --bs=4k --number_ios=50 --size=100m --output-format=json --output="$work/json"
    model=$(($(counter time_ns) / 50))
    is "timing: $rw takes no less than the model says" "$(latency ${rw#rand} min)" -ge $((model - 10000))
    is "timing: $rw takes little more" "$(latency ${rw#rand} mean)" -le $((model + 300000))
  done
  echo 20000000 > $folder/program_ns
  job --rw=randwrite --bs=4k --number_ios=5 --size=100m --output-format=json --output="$work/json"
  is "timing: a changed time is in force" "$(latency write min)" -ge 20000000
  quiet timing
}

check_determinism() {
  local run
  on 262144 "${uncached[@]}" open_units=4 unit_kib=1024 merge_ns=100000 merge_spread_ns=900000
  for run in 1 2 3; do
    [ $run = 3 ] && echo 2 > $folder/seed
    blkdiscard /dev/target
    echo 1 > $flash/reset
    job --rw=randrw --bs=4k --number_ios=400 --size=64m --iodepth=1
    cat $flash/stats > "$work/stats$run"
  done
  same "$work/stats1" "$work/stats2" 0 9999
  report $? "determinism: same job, same counters to the nanosecond"
  is "determinism: there was chance in it" "$(sed -n 's/^merges=//p' "$work/stats1")" -gt 50
  fails same "$work/stats1" "$work/stats3" 0 9999
  report $? "determinism: another seed, other times"
  quiet determinism
}

check_unload() {
  local before after round
  mkdir -p "$work/mnt"
  on 262144
  mkfs.ext4 -q /dev/target
  mount /dev/target "$work/mnt"
  refused 'Device or resource busy' $folder/power 0
  report $? "unload: power stays on while mounted"
  fails rmmod flashsim
  report $? "unload: the module stays while mounted"
  umount "$work/mnt"
  fails rmdir $folder
  report $? "unload: a folder whose device is on stays"
  fails rmmod flashsim
  report $? "unload: the module stays while there is a device"
  off && rmmod flashsim
  report $? "unload: goes when idle"
  # a first time, as the kernel keeps some free pages by it; in each what was replaced is memory too
  for round in 1 2 3; do
    insmod "$module"
    on 262144
    for _ in 1 2; do dd if=/dev/urandom of=/dev/target bs=1M count=100 oflag=direct status=none; done
    off && rmmod flashsim
    after=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
    [ $round != 1 ] || before=$after
  done
  is "unload: its memory is given back, KiB" $((before - after)) -lt 60000
  insmod "$module"
  on 262144
  report $? "unload: loads again"
  quiet unload 'module verification\|out-of-tree'
}

check_power_cut() {
  local kind status
  for kind in fifo reorder none; do
    case $kind in
      fifo) on 65536 cache_reorder=0 ;;
      reorder) on 65536 cache_reorder=1 ;;
      none) on 65536 "${uncached[@]}" ;;
    esac
    python3 "$power_cut" $kind
    status=$?
    [ $status = 0 ] || failures=$((failures + 1))
  done
  quiet power_cut 'I/O error, dev target\|Buffer I/O error on dev target'
}

check_history() {
  on 65536
  python3 "${power_cut%/*}/history.py"
  report $? "history: all of it"
  quiet history
}

# A write of eight sectors of the letter a, the second from when the fault is set: how many letters of it are then
# there, and its error.
check_fault() {
  local kind letters error result
  head -c 4096 /dev/zero | tr '\0' a > "$work/letters"
  while read -r kind letters error; do
    on 65536
    echo "$kind:2" > $flash/fault
    dd if="$work/letters" of=/dev/target bs=4k seek=1 oflag=direct status=none
    result=$(dd if="$work/letters" of=/dev/target bs=4k oflag=direct status=none 2>&1)
    is "fault: $kind" "${result##*: }" = "$error"
    is "fault: $kind stores" "$(dd if=/dev/target bs=4k count=1 iflag=direct status=none | tr -cd a | wc -c)" = "$letters"
    dd if="$work/letters" of=/dev/target bs=4k seek=2 oflag=direct status=none
    report $? "fault: $kind is of one write"
    is "fault: $kind was" "$(cat $flash/fault)" = 'fired=1 seen=3 sector=0'
  done << KINDS
eio-write 0 Input/output error
enospc 0 No space left on device
short-write 2048
torn 3584 Input/output error
corrupt 4095
KINDS
  on 65536
  echo eio-read:1 > $flash/fault
  fails dd if=/dev/target of=/dev/null bs=4k count=1 iflag=direct status=none
  report $? "fault: a read fails"
  echo eio-flush:1 > $flash/fault
  fails dd if="$work/letters" of=/dev/target bs=4k oflag=direct conv=fsync status=none
  report $? "fault: a FLUSH fails"
  is "fault: and makes nothing durable" "$(counter unflushed)" = 1
  refused 'Invalid argument' $flash/fault eio-write:0
  report $? "fault: the first is number 1"
  refused 'Invalid argument' $flash/fault eio:1
  report $? "fault: its kind is one of those"
  quiet fault 'I/O error, dev target\|Buffer I/O error on dev target\|critical space allocation error, dev target'
}

modprobe configfs
[ ! -f /dev/target ] || rm /dev/target
[ -d $root ] || insmod "$module"
dmesg -C
for check in $checks; do "check_$check"; done
off && rmmod flashsim
rm -rf "$work"
echo "$failures failed"
[ $failures = 0 ]
