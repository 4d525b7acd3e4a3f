# shellcheck shell=sh
# What a part's `check` says of a board. Sourced; `met` is how it ends.

missing=0
# lack TEXT: say that it is missing
lack() {
  echo "$(basename "$0" .sh): $1" >&2
  missing=1
}
needs_program() {
  for program in "$@"; do command -v "$program" > /dev/null || lack "$program is not installed"; done
}
needs_module() { modprobe "$1" || lack "the kernel has no $1"; }
# met: whether all is there
met() { return "$missing"; }
