#!/bin/sh
# Record the samples of watched commands again: watch-sample.tar.xz, a Python program with two databases;
# concurrent-sample.tar.xz, processes of sqlite3 and of Python and threads of fio; threads-sample.tar.xz, threads
# and processes in databases of their own and in one for all. usage: record-watch-sample.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
results=$(mktemp -d)
trap 'rm -r "$results"' EXIT
cd "$here/../.."
programs=tests/bench/programs

# record SAMPLE COMMAND NAME=VALUE...; to make a $ is written $$
record() {
  sample=$1 command=$(printf %s "$2" | sed 's/\$/$$/g')
  shift 2
  COMMITPATH_RESULTS=$results make watch CMD="$command" "$@"
  tar -C "$results/latest" -cJf "$here/$sample" watch.json host.json raw twin
}

record watch-sample.tar.xz 'python3 insert.py' FILES=$programs/insert.py
record threads-sample.tar.xz 'python3 concurrent.py' FILES=$programs/concurrent.py
# shellcheck disable=SC2016 # the board's shell takes these
record concurrent-sample.tar.xz "$(printf %s '
for i in 1 2 3 4; do (for n in 1 2 3 4 5; do
  sqlite3 $i.db "CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES($n)"; done) & done; wait;
for i in 5 6; do (sqlite3 $i.db "PRAGMA journal_mode=wal; CREATE TABLE t(x); INSERT INTO t VALUES(1);
  INSERT INTO t VALUES(2); INSERT INTO t VALUES(3); INSERT INTO t VALUES(4)") & done; wait;
mkdir w d; (cd w; python3 ../writers.py wal 5 3 15); (cd d; python3 ../writers.py delete 5 3 15);
fio --name=j --rw=write --ioengine=sync --fdatasync=1 --directory=. --size=80k --bs=4k --numjobs=4 --thread
  --output=/dev/null; rm -r w d' | tr '\n' ' ')" FILES=$programs/writers.py PACKAGES=python3,sqlite3,fio
