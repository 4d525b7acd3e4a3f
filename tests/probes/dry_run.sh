#!/bin/sh
# Load and attach every probe, alone and all together, then let go: nothing is recorded.
# Run it on a board, as root, with ext4 and f2fs loaded:
#   tests/probes/dry_run.sh [probes folder]
# bpftrace --dry-run goes all the way: parse, types, verifier, attach. The first failure is
# named and ends the test. tx needs the driver it marks; without it, it is skipped by name.
set -eu

probes=${1:-$(dirname "$0")/../../probes}
driver=/run/commitpath/bin/driver
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
	name=$1
	shift
	(cd "$probes" && cat frame.bt "$@") >"$work/program.bt"
	if ! bpftrace --dry-run "$work/program.bt" >"$work/out" 2>&1 ||
		grep -Eq 'ERROR|WARNING' "$work/out"; then
		cat "$work/out"
		echo "$name: FAILED"
		exit 1
	fi
	want=$(bpftrace -l "$work/program.bt" | wc -l)
	if ! grep -q "Attaching $want probes" "$work/out"; then
		echo "$name: FAILED: $(head -n 1 "$work/out") but $want are listed"
		exit 1
	fi
	echo "$name: ok, $want probes"
}

all=
for file in "$probes"/*.bt; do
	file=${file##*/}
	case $file in
	frame.bt) continue ;;
	tx.bt)
		if [ ! -x "$driver" ]; then
			echo "tx: skipped, no $driver"
			continue
		fi
		;;
	esac
	check "${file%.bt}" "$file"
	all="$all $file"
done
# shellcheck disable=SC2086 # a list of file names without spaces
check all $all
