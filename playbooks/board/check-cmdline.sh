#!/bin/sh
# Check that the options on the kernel's command line took effect: the virtual board's numbers depend on them
# (images/qemu.py). Prints one line for each that did not. usage: check-cmdline.sh [WORD...]
# WORD  of a command line; default: this board's
#
# A word that this script cannot verify is an error too: add its check here.
set -u
[ $# -gt 0 ] || {
  read -r words < /proc/cmdline
  # shellcheck disable=SC2086  # the words of a command line
  set -- $words
}
missing=0
lack() {
  echo "check-cmdline: the kernel did not take $1: $2" >&2
  missing=1
}
# is WORD FILE VALUE: FILE has VALUE alone, or does not exist
is() {
  # by cat: a shell reads a byte at a time, and /proc/sys gives only the first byte of a number
  [ ! -e "$2" ] || { found=$(cat "$2") && [ "$found" = "$3" ]; } || lack "$1" "$2 is ${found:-empty}"
}
# the kernel's boot messages
log=$(dmesg) && [ "$log" ] || {
  echo "check-cmdline: the kernel's log cannot be read" >&2
  exit 1
}
# logged TEXT: whether the log contains it
logged() { case $log in *"$1"*) ;; *) return 1 ;; esac; }
# mounted TYPE FILE: print a file of a filesystem that is not mounted on the board; nothing if there is none
mounted() {
  mkdir -p /run/check-cmdline && mount -t "$1" "$1" /run/check-cmdline 2> /dev/null || return
  cat "/run/check-cmdline/$2"
  umount /run/check-cmdline
}
for word in "$@"; do
  case $word in
    console=* | panic=* | loglevel=*) ;; # only affect the console
    nokaslr) ! logged 'KASLR enabled' || lack "$word" "its log has 'KASLR enabled'" ;;
    norandmaps) is "$word" /proc/sys/kernel/randomize_va_space 0 ;;
    # cannot be read back; a test verifies that two runs of a board execute the same instructions
    randomize_kstack_offset=off) ;;
    transparent_hugepage=never)
      is "$word" /sys/kernel/mm/transparent_hugepage/enabled 'always madvise [never]'
      ;;
    # before 5.14 this setting does not exist, and lists have a fixed size
    sysctl.vm.percpu_pagelist_high_fraction=*)
      is "$word" /proc/sys/vm/percpu_pagelist_high_fraction "${word#*=}"
      # the minimum and maximum list sizes, if the kernel shows them
      awk '/high_min:/ { least = $2 } /high_max:/ && $2 != least { exit 1 }' /proc/zoneinfo ||
        lack "$word" "/proc/zoneinfo has lists that change their size"
      ;;
    # always present: capability, lockdown, ima, evm
    lsm=)
      found=$(mounted securityfs lsm)
      [ "$found" ] || [ ! -d /proc/self/attr ] || lack "$word" 'its security modules cannot be read'
      for module in $(echo "$found" | tr , ' '); do
        case $module in capability | lockdown | ima | evm) ;; *) lack "$word" "it has $module" ;; esac
      done
      ;;
    cgroup_disable=memory)
      case " $(mounted cgroup2 cgroup.controllers) " in
        *' memory '*) lack "$word" 'cgroup.controllers has memory' ;;
      esac
      ;;
    psi=0) [ ! -e /proc/pressure ] || lack "$word" 'it has /proc/pressure' ;;
    init_on_alloc=0) logged 'heap alloc:off' || lack "$word" "its log has no 'heap alloc:off'" ;;
    # /sys shows the same for this CPU with and without the option
    mitigations=off)
      ! logged 'detected: Spectre-' || logged 'mitigation disabled by command-line option' ||
        lack "$word" 'its log has mitigations of Spectre, and not that they are disabled'
      ;;
    *) lack "$word" 'no check for it (playbooks/board/check-cmdline.sh)' ;;
  esac
done
exit $missing
