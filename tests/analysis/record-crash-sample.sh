#!/bin/sh
# Packs runs with cuts as the samples of test_crash_run.py, of test_killed_run.py, watched, of
# test_crash_context.py and of test_lines_run.py, and of a trace of test_crash_trace_run.py. They were
#   make experiment DEVICE=emmc-5.0 MODE=delete ROWS=100 N=5 PROBES=none CRASH=power CUTS=40
#   make experiment MODE=wal ROWS=1000 N=5 PROBES=none CRASH=process CUTS=30
#   make experiment DEVICE=emmc-5.0 MODE=delete ROWS=100 N=3 CRASH=power CUTS=30
#   make experiment ENGINE=ssl LOG_MEDIUM=pcm DIRTY_PAGES=4 DEVICE=emmc-5.0 ROWS=100 N=3 CRASH=power CUTS=30
#   make experiment WORKLOAD=trace FILE=tests/analysis/samples/crash.trace DEVICE=emmc-5.0 MODE=delete \
#     PROBES=none CRASH=power CUTS=40
# usage, from the root of the repository:
#   tests/analysis/record-crash-sample.sh UNWATCHED_RUN KILLS WATCHED_RUN RUN_WITH_A_LOG_IN_PERSISTENT_MEMORY \
#     TRACE_RUN
set -eu
pack() {
	sample="$(dirname "$0")/$1"
	run="$2"
	shift 2
	tar -C "$run" --transform 's,^,run/,' --owner=0 --group=0 -cJf "$sample" cell.json host.json raw crash "$@"
}
pack sample-crash.tar.xz "$1"
pack sample-kills.tar.xz "$2"
pack sample-crash-watched.tar.xz "$3" twin
pack sample-crash-lines.tar.xz "$4" twin
pack sample-crash-trace.tar.xz "$5"
