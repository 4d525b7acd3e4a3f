#!/usr/bin/env python3
"""Compare syncs, writes and flushes of watched programs: by our probes, by strace, and by the kernel.

usage: programs.py [--only NAME;…]

Each program is run by `make watch` twice on one board: under our observers, and once more under strace, too.
Prints a row each: the syncs that the probes saw and that strace saw, and writes, sectors and flushes by the
probes and by /sys/block/*/stat. Exit code 1 where two differ. What a program does by the clock may differ
between the two runs: then it says so. Of programs of several threads and processes that is the rule, and
their syncs are those of the run under strace. A run that is rejected has its reason below the table.

Mobibench's source is fetched from GitHub, or is that of the clone that COMMITPATH_MOBIBENCH names; without
one of them there is no table.
"""

import argparse
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tools

sys.path.insert(0, str(tools.ROOT))

from commitpath.run.experiment import run_once
from commitpath.run.watch import command_cell

HERE = Path(__file__).resolve().parent
PACKAGES = "python3,sqlite3,strace,rocksdb-tools,fio"
# What asks for a sync of a file; syncfs and sync are none of the probes' (probes/sync.h).
SYNCS = "fsync,fdatasync"
TRACED = (
    "strace -f -o /tmp/calls -e trace={syncs} sh -c {command} > /tmp/said; code=$?; "
    "grep -cE '(fsync|fdatasync)\\(' /tmp/calls; exit $code"
)
COMMANDS = {
    "python3": "python3 insert.py",
    "sqlite3": "sqlite3 -init /dev/null shell.db '.read shell.sql'",
    "speedtest1": "./speedtest1 --size 1 --journal wal --stats speedtest.db",
    "kvtest": "./kvtest init kv.db --count 200 --size 4k",
    "mobibench": "./mobibench -p mobi -d 0 -n 20 -j 0 -s 2 -q",
    # the same, with the file that it drops the page cache by in the place of another
    "mobibench, cache kept": "mount --bind /dev/null /proc/sys/vm/drop_caches && "
    "./mobibench -p mobi -d 0 -n 20 -j 0 -s 2 -q",
    "db_bench": "db_bench --benchmarks=fillsync --num=200 --db=rocks",
}


# Threads and processes at once, and the filesystem.
CONCURRENT = {
    **{
        f"threads and processes, {fs}": (fs, "python3 concurrent.py")
        for fs in ("ext4-ordered", "f2fs", "xfs")
    },
    "fio, 4 threads": (
        "ext4-ordered",
        "fio --name=j --rw=write --ioengine=sync --fdatasync=1 --directory=. --size=80k --bs=4k --numjobs=4 "
        "--thread --output=/dev/null",
    ),
    "sqlite3, 4 processes": (
        "ext4-ordered",
        "for i in 1 2 3 4; do (for n in 1 2 3 4 5; do sqlite3 $i.db "
        '"CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES($n)"; done) & done; wait',
    ),
}
SCRIPTS = ("concurrent.py", "fsync_bench.py", "writers.py", "extents.py")


class Row(NamedTuple):
    """What was counted of a program."""

    name: str
    syncs: int
    strace: int
    writes: tuple[int, int]  # by the probes, by stat
    sectors: tuple[int, int]
    flushes: tuple[int, int]
    transactions: int | None  # None: not known
    reasons: list[str]

    @property
    def equal(self) -> bool:
        """Whether no two counts of the same thing differ."""
        pairs = (self.writes, self.sectors, self.flushes, (self.syncs, self.strace))
        return all(one == other for one, other in pairs)


def files(folder: Path) -> str:
    """What the programs are given, as FILES, those that are no package's built in FOLDER. LabError where
    Mobibench's source is not to be had."""
    found = [HERE / "programs/insert.py", HERE / "programs/shell.sql", *tools.build(folder).values()]
    return ",".join(map(str, [*found, tools.mobibench(folder)]))


def scripts() -> str:
    """What the concurrent programs are given, as FILES."""
    return ",".join(str(HERE / "programs" / name) for name in SCRIPTS)


def watched(command: str, files: str, fs: str) -> dict[str, Any]:
    """The summary of a watched command."""
    from analysis import pipeline

    cell = {"CMD": command, "FILES": files, "PACKAGES": PACKAGES, "FS": fs}
    return pipeline.analyse(run_once(command_cell(cell)))


def called(summary: dict[str, Any]) -> int:
    """How many syncs of files a program called for."""
    return sum(one["syncs"] for one in summary["syncs"] if one["caller"] in SYNCS.split(","))


def row(name: str, files: str) -> Row:
    """Run a program twice; BadInputError or LabError as `make watch`."""
    fs, command = CONCURRENT.get(name) or ("ext4-ordered", COMMANDS[name])
    own = watched(command, files, fs)
    if own["command"]["failed"]:
        raise SystemExit(f"programs: {name}: {own['command']['failed']}: {own['command']['stderr'][-300:]}")
    other = watched(TRACED.format(syncs=SYNCS, command=shlex.quote(command)), files, fs)
    counted = own["counted"]
    pairs = {
        key: (counted["probe"][key], counted["stat"][key]) for key in ("writes", "bytes_written", "flushes")
    }
    syncs = called(other if name in CONCURRENT else own)
    (strace,) = re.findall(r"^[0-9]+$", other["command"]["stdout"], re.MULTILINE)[-1:] or ["-1"]
    sectors = (pairs["bytes_written"][0] // 512, pairs["bytes_written"][1] // 512)
    known = own["transactions"]["count"]
    return Row(name, syncs, int(strace), pairs["writes"], sectors, pairs["flushes"], known, own["reasons"])


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", help="names of programs, separated by semicolons")
    options = parser.parse_args()
    known = [*COMMANDS, *CONCURRENT]
    names = options.only.split(";") if options.only else known
    if unknown := set(names) - set(known):
        parser.error(f"no program {'; '.join(sorted(unknown))}; there are {'; '.join(known)}")
    with tempfile.TemporaryDirectory() as work:
        given = files(Path(work)) if set(names) & COMMANDS.keys() else ""
        rows = [row(name, scripts() if name in CONCURRENT else given) for name in names]
    heads = (
        "program",
        "syncs",
        "by strace",
        "writes",
        "by stat",
        "sectors",
        "by stat",
        "flushes",
        "by stat",
        "transactions",
        "",
    )
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for one in rows:
        transactions = "not known" if one.transactions is None else one.transactions
        numbers = (one.syncs, one.strace, *one.writes, *one.sectors, *one.flushes, transactions)
        said = f"{'equal' if one.equal else 'they differ'}{', rejected' * bool(one.reasons)}"
        print(f"| {one.name} | " + " | ".join(map(str, numbers)) + f" | {said} |")
    print(*(f"{one.name}: {reason}" for one in rows for reason in one.reasons), sep="\n")
    return 0 if all(one.equal for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
