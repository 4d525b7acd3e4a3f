#!/bin/sh
# Record watch-sample.tar.xz again: a Python program with two databases, watched. usage: record-watch-sample.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
results=$(mktemp -d)
trap 'rm -r "$results"' EXIT
cd "$here/../.."
COMMITPATH_RESULTS=$results make watch CMD='python3 insert.py' FILES=tests/bench/programs/insert.py
tar -C "$results/latest" -cJf "$here/watch-sample.tar.xz" watch.json host.json raw twin
