#!/bin/sh
# Assert that the kernel did as its command line asks, which numbers of the virtual board rest on
# (images/qemu.py). Says what did not take effect, one line each. usage: check-cmdline.sh [WORD...]
# WORD  of a command line; default: those of this board's
#
# A word that nothing here can read back is an error, too: who adds one says here how.
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
# is FILE WORD: FILE has WORD alone, or does not exist
is() {
  # by cat: a shell reads a byte at a time, and of a number in /proc/sys the first is all
  [ ! -e "$2" ] || { found=$(cat "$2") && [ "$found" = "$3" ]; } || lack "$1" "$2 is ${found:-empty}"
}
# what the kernel said as it booted; of a log that is not there nothing is told
log=$(dmesg) && [ "$log" ] || {
  echo "check-cmdline: the kernel's log cannot be read" >&2
  exit 1
}
# said TEXT: whether it is in the log
said() { case $log in *"$1"*) ;; *) return 1 ;; esac; }
# mounted TYPE FILE: a file of a filesystem that is not mounted on the board; nothing where there is none
mounted() {
  mkdir -p /run/check-cmdline && mount -t "$1" "$1" /run/check-cmdline 2> /dev/null || return
  cat "/run/check-cmdline/$2"
  umount /run/check-cmdline
}
for word in "$@"; do
  case $word in
    console=* | panic=* | loglevel=*) ;; # for who reads the console
    nokaslr) ! said 'KASLR enabled' || lack "$word" "its log has 'KASLR enabled'" ;;
    norandmaps) is "$word" /proc/sys/kernel/randomize_va_space 0 ;;
    # the kernel tells nobody; a test sees two runs of a board execute the same instructions
    randomize_kstack_offset=off) ;;
    transparent_hugepage=never)
      is "$word" /sys/kernel/mm/transparent_hugepage/enabled 'always madvise [never]'
      ;;
    # before 5.14 there is no such setting, and no list changes its size
    sysctl.vm.percpu_pagelist_high_fraction=*)
      is "$word" /proc/sys/vm/percpu_pagelist_high_fraction "${word#*=}"
      # how small and how large a list may be, where the kernel says so
      awk '/high_min:/ { least = $2 } /high_max:/ && $2 != least { exit 1 }' /proc/zoneinfo ||
        lack "$word" "/proc/zoneinfo has lists that change their size"
      ;;
    # what it has whatever it is told: capability, lockdown, ima, evm
    lsm=)
      found=$(mounted securityfs lsm)
      [ "$found" ] || [ ! -d /proc/self/attr ] || lack "$word" 'it does not say which security modules it has'
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
    init_on_alloc=0) said 'heap alloc:off' || lack "$word" "its log has no 'heap alloc:off'" ;;
    # the files in /sys say of this CPU the same with and without the word
    mitigations=off)
      ! said 'detected: Spectre-' || said 'mitigation disabled by command-line option' ||
        lack "$word" 'its log has mitigations of Spectre, and not that they are disabled'
      ;;
    *) lack "$word" 'nothing here reads it back (playbooks/board/check-cmdline.sh)' ;;
  esac
done
exit $missing
