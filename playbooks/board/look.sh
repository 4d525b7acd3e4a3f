#!/bin/sh
# Print a board's kernel, Python, usable probes, filesystems, observers, and its partition; change nothing.
# usage: look.sh DEVICE    prints NAME: TEXT lines
folder=/run/commitpath
say() { echo "$1: $2"; }

say kernel "$(uname -sr), $(uname -m)"
say distribution "$(. /etc/os-release 2> /dev/null && echo "${PRETTY_NAME:-unnamed}" || echo 'no /etc/os-release')"
say CPUs "$(grep -c '^processor' /proc/cpuinfo), $(awk '/^MemTotal:/ { print int($2 / 1024) " MiB of memory" }' /proc/meminfo)"
say Python "$(python3 -c 'import platform; print(platform.python_version())' 2>&1)"
say 'room in /run' "$(df -m /run | awk 'NR == 2 { print $4 " MiB" }')"
[ -d /run/systemd/system ] && held="a unit of systemd's ($(systemctl --version | awk 'NR == 1 { print $2 }'))" || held='a process of its own'
say 'a run is held by' "$held"

# observers that can run
btf=/sys/kernel/btf/vmlinux
if ! command -v getconf > /dev/null; then
  say probes 'counters only: getconf, which reads the size of pages, is missing'
elif [ "$(getconf PAGESIZE)" != 4096 ]; then
  say probes "counters only: the kernel's pages have $(getconf PAGESIZE) bytes, not 4096"
elif [ ! -e $btf ]; then
  say probes "counters only: the kernel has no BTF ($btf)"
elif [ ! -e /proc/sys/kernel/unprivileged_bpf_disabled ]; then
  say probes 'counters only: the kernel has no bpf()'
elif grep -q '\[confidentiality\]' /sys/kernel/security/lockdown 2> /dev/null; then
  say probes 'counters only: the kernel is locked down'
elif ! grep -q -w tracefs /proc/filesystems; then
  say probes 'counters only: the kernel has no tracefs'
else
  say probes "possible: the kernel has BTF ($(stat -c %s $btf) bytes)"
fi

# as in needs.sh, but nothing is loaded
lack() { lacking="$lacking; $1"; }
needs_program() { for program in "$@"; do command -v "$program" > /dev/null || lack "$program is not installed"; done; }
needs_module() { modprobe --dry-run --quiet "$1" || grep -q -w "$1" /proc/filesystems || lack "the kernel has no $1"; }
# parts KIND FOLDER: what each of them lacks
parts() {
  for part in "$folder/$2"/*.sh; do
    (
      lacking=''
      # shellcheck source=/dev/null
      . "$part"
      check
      say "$1 $(basename "$part" .sh)" "$([ -z "$lacking" ] && echo possible || echo "no: ${lacking#; }")"
    )
  done
}
parts filesystem filesystems
parts observer observers

node=$(readlink -f "$1")
disk=$(lsblk -n -d -o PKNAME "$node" 2> /dev/null)
say partition "$1 is ${node:-nothing}, $(lsblk -n -d -b -o SIZE "$node" 2> /dev/null || echo no) bytes, of the disk ${disk:-none}"
[ -z "$disk" ] || say 'root is on' "$(findmnt -n -o SOURCE /), with the disk ${disk}'s other partitions: $(lsblk -n -l -o NAME "/dev/$disk" | grep -v -x -e "$disk" -e "${node#/dev/}" | tr '\n' ' ')"
