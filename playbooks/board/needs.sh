# Report the programs and kernel modules that a board lacks, for `check` of a filesystem or observer, which
# ends with `met`. Sourced.
# shellcheck shell=sh

missing=0
# lack TEXT: report a missing thing
lack() {
  echo "$(basename "$0" .sh): $1" >&2
  missing=1
}
needs_program() {
  for program in "$@"; do command -v "$program" > /dev/null || lack "$program is not installed"; done
}
needs_module() { modprobe "$1" || lack "the kernel has no $1"; }
# met: whether nothing is missing
met() { return "$missing"; }
