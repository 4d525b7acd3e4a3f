# Check for, make and describe {{NAME}}; stop, resume and settle its periodic writes; print its counters.
# Environment: DEVICE_NAME MOUNTPOINT. All functions are required; one with nothing to do is `:`.
# Change a setting of the system by playbooks/board/changes.sh only, so that a lab board gets it back.
# shellcheck shell=sh

# check: its requirements; reports each that is missing
check() {
  needs_program mkfs.{{NAME}} fsck.{{NAME}}
  needs_module {{NAME}}
}

# make UUID DEVICE WORD...: a filesystem with that UUID; it must not overwrite what mkfs recognises
make() {
  uuid=$1 device=$2
  shift 2
  mkfs.{{NAME}} "$@" -U "$uuid" "$device"
}

# quiesce: stop periodic writes during a run, as far as possible
quiesce() { :; }

# resume: the kernel's default again
resume() { :; }

# settle: make periodic activity begin at the same time in each run, with an empty journal
settle() { :; }

# describe FOLDER: its layout, which analysis/adapters/layouts/{{NAME}}.py reads
describe() { echo "block_size = $(stat -f -c %S "$MOUNTPOINT")" > "$1/superblock.txt"; }

# counters: its own numbers of what its probe records, `name value` a line
counters() { :; }
