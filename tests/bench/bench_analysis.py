"""Speed and memory of the analysis and `make inspect TRACE=` against blkparse, btt: `make bench-analysis`.

One recorded run is made longer (scale.py) to 1 and to 10 million block events. Ours reads the
probes' records, SQLite's calls and blktrace's files, correlates them, makes the ledger's tables
and writes them; blkparse prints the blktrace's records as text, every field, to /dev/null; btt
reads what blkparse merged. The matcher is what `make inspect TRACE=` does before its page: of blktrace's
files, and of what blkparse prints of them. All in turn, on the same files, the best of ROUNDS of each.
Prints a Markdown table and fails when a limit is not held.

RUN=<a run's folder> takes another recording than sample.tar.xz, which is the run of
`make experiment ROWS=1000 N=50`, packed with
tar -C RUN --transform s,^,run/, -cJf tests/bench/sample.tar.xz cell.json raw
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAMPLE = HERE / "sample.tar.xz"
SIZES = (1_000_000, 10_000_000)
ROUNDS = 3
TEXT = "%c %s %T %t %p %D %a %d %S %n %e\\n"

FASTER = 5.0  # times as many events a second as blkparse's text output
MEMORY = 1.5e9  # bytes at the largest size
MATCHED = 3.0  # seconds of a million events, of records and of either text
MATCHER_MEMORY = 300e6  # bytes at the peak for these
MATCHER = ("matcher, records", "matcher, blkparse's text", "matcher, ftrace's text")
# blkparse's format and what makes ftrace's text of it
FTRACE = "%C-%p [%c] ..... %5T.%9t: %a: %D %d %S + %n [%C]\\n"
TO_FTRACE = (
    "s/: Q: /: block_bio_queue: /; s/: G: /: block_getrq: /; s/: M: /: block_bio_backmerge: /; "
    "s/: I: ([^ ]+ +[^ ]+) (.*) \\[/: block_rq_insert: \\1 4096 () \\2 none,0,0 [/; "
    "s/: D: ([^ ]+ +[^ ]+) (.*) \\[/: block_rq_issue: \\1 4096 () \\2 none,0,0 [/; "
    "s/: C: ([^ ]+ +[^ ]+) (.*) \\[.*/: block_rq_complete: \\1 () \\2 none,0,0 [0]/; "
    "s/, +/,/; s/(,[0-9]+) +/\\1 /; / block_/!d"
)
FLAT = 1.25  # cost per event at the largest size over that at the smallest


@dataclass
class Best:
    """The best of several rounds."""

    seconds: float = float("inf")
    cpu: float = float("inf")
    memory: int = 0  # bytes, the most of all rounds

    def take(self, seconds: float, cpu: float, memory: int) -> None:
        self.seconds, self.cpu = min(self.seconds, seconds), min(self.cpu, cpu)
        self.memory = max(self.memory, memory)


def run(command: list[str], folder: Path) -> tuple[float, float, int, str]:
    """(wall seconds, CPU seconds, bytes of memory at the peak, stdout) of one process."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        begin = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"bench-analysis: {' '.join(command)} failed:\n{errors.read()}")
        out.seek(0)
        return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, out.read()


def measure(folder: Path) -> dict[str, Best]:
    """Every tool on one run, in turn."""
    best = {name: Best() for name in ("ours", "blkparse -f", "blkparse + btt", *MATCHER)}
    trace = folder / "raw/blktrace"
    device = next(trace.glob("*.blktrace.*")).name.split(".")[0]
    for _ in range(ROUNDS):
        *_, memory, told = run([sys.executable, str(HERE / "ours.py"), str(folder)], ROOT)
        ours = json.loads(told)
        best["ours"].take(ours["seconds"], ours["cpu"], memory)
        text = run(["sh", "-c", f"exec blkparse -q -i {device} -f '{TEXT}' > /dev/null"], trace)
        best["blkparse -f"].take(*text[:3])
        merged = run(["blkparse", "-q", "-O", "-i", device, "-d", "merged.bin"], trace)
        btt = run(["btt", "-i", "merged.bin", "-o", "btt"], trace)
        for path in trace.glob("btt*"):
            path.unlink()
        run(["sh", "-c", f"exec blkparse -q -i {device} > text"], trace)
        run(["sh", "-c", f"blkparse -q -i {device} -f '{FTRACE}' | sed -E '{TO_FTRACE}' > ftrace"], trace)
        for name, given in zip(MATCHER, (device, "text", "ftrace"), strict=True):
            *_, memory, told = run([sys.executable, str(HERE / "matcher.py"), str(trace / given)], ROOT)
            matched = json.loads(told)
            best[name].take(matched["seconds"], matched["cpu"], memory)
        for given in ("text", "ftrace"):
            (trace / given).unlink()
        (trace / "merged.bin").unlink()
        total = (merged[0] + btt[0], merged[1] + btt[1], max(merged[2], btt[2]))
        best["blkparse + btt"].take(*total)
    return best


def table(events: dict[int, int], found: dict[int, dict[str, Best]]) -> str:
    """The measurements as Markdown."""
    lines = [
        "| block events | tool | s | events/s | CPU s | peak MiB | ours is faster by |",
        "|---" * 7 + "|",
    ]
    for size, tools in found.items():
        for name, best in tools.items():
            ratio = best.seconds / tools["ours"].seconds
            lines.append(
                f"| {events[size]:,} | {name} | {best.seconds:.2f} | {events[size] / best.seconds:,.0f} "
                f"| {best.cpu:.2f} | {best.memory / 2**20:,.0f} | {ratio:.1f} |"
            )
    return "\n".join(lines)


def verdicts(events: dict[int, int], found: dict[int, dict[str, Best]]) -> list[tuple[bool, str]]:
    """(held, what) of each limit."""
    verdict = []
    for size, tools in found.items():
        ratio = tools["blkparse -f"].seconds / tools["ours"].seconds
        what = f"{ratio:.1f} times as fast as blkparse's text at {events[size]:,} (limit {FASTER:g})"
        verdict.append((ratio >= FASTER, what))
    smallest, largest = min(found), max(found)
    memory = found[largest]["ours"].memory
    verdict.append(
        (memory <= MEMORY, f"{memory / 1e9:.2f} GB at {events[largest]:,} (limit {MEMORY / 1e9:g})")
    )
    for name in MATCHER:
        one = found[smallest][name]
        what = (
            f"{name}: {one.seconds:.2f} s and {one.memory / 1e6:.0f} MB at {events[smallest]:,} "
            f"(limits {MATCHED:g} and {MATCHER_MEMORY / 1e6:g})"
        )
        verdict.append((one.seconds <= MATCHED and one.memory <= MATCHER_MEMORY, what))
    cost = {size: tools["ours"].seconds / events[size] for size, tools in found.items()}
    ratio = cost[largest] / cost[smallest]
    verdict.append((ratio <= FLAT, f"cost per event grows by {ratio:.2f} (limit {FLAT:g})"))
    return verdict


def longer(recording: Path, folder: Path, size: int) -> int:
    """Make a recording longer, in a folder of its own; return its block events."""
    *_, told = run([sys.executable, str(HERE / "scale.py"), str(recording), str(folder), str(size)], ROOT)
    return int(told)


def recorded(work: Path) -> Path:
    """The run to make longer."""
    given = dict(word.partition("=")[::2] for word in sys.argv[1:])
    if "RUN" in given:
        return Path(given["RUN"])
    shutil.unpack_archive(SAMPLE, work)
    return next(work.rglob("cell.json")).parent


def main() -> int:
    events, found = {}, {}
    with tempfile.TemporaryDirectory(prefix="bench-analysis-") as name:
        run_ = recorded(Path(name) / "sample")
        for size in SIZES:
            folder = Path(name) / str(size)
            events[size] = longer(run_, folder, size)
            found[size] = measure(folder)
    print(table(events, found), flush=True)
    results = verdicts(events, found)
    print("\n".join(f"{'held' if held else 'NOT HELD'}: {what}" for held, what in results))
    return 0 if all(held for held, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
