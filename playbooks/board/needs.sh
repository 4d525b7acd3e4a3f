# shellcheck shell=sh
# Functions for a part's `check` of a board. Sourced; `check` ends with `met`.

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
