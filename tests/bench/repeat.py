"""How well numbers repeat, and what a run costs: `make bench-repeat`.

One Markdown table: the limit and what was measured, in one go, by Debian's QEMU and, where it is built,
by ours (make emulator). The cell is FS=f2fs MODE=wal ROWS=1000 N=100 unless a row says otherwise; TPS is
summary.json's `all`.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from images import emulator  # noqa: E402

SMALL = ("FS=f2fs", "MODE=wal", "ROWS=1000", "N=100")
# where on the device all lies has a part in the time, as it has not on null_blk
FLASH = ("DEVICE=galaxy-nexus", "PROBES=none", "N=100")

# engines of keys and values → what makes background work of a short run
KEY_VALUES: dict[str, tuple[str, ...]] = {
    "leveldb": ("WRITE_BUFFER_SIZE=65536",),
    "lmdb": (),
    "rocksdb": ("WRITE_BUFFER_SIZE=65536",),
    "sqlitekv": ("CHECKPOINT_EVERY=50",),
}


# What calls have: COMMITPATH_EMULATOR.
CHOSEN = {"COMMITPATH_EMULATOR": "stock"}


def call(*variables: str, cache: Path | None = None) -> subprocess.Popen[str]:
    """Start `make experiment`, by the emulator that is CHOSEN."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))} | CHOSEN
    if cache:
        environment["COMMITPATH_CACHE"] = str(cache)
    return subprocess.Popen(
        ["make", "-s", "-C", str(ROOT), "experiment", *variables],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def finish(process: subprocess.Popen[str]) -> Path:
    """Wait for a call; the path of its report. Ends the bench if the call failed."""
    output, _ = process.communicate()
    if process.returncode:
        sys.exit(f"bench: make experiment failed:\n{output}")
    return Path(output.rsplit("report: ", 1)[1].splitlines()[0])


def summaries(page: Path) -> list[dict[str, Any]]:
    """The runs' summaries behind a report of one run or of repeats."""
    listed = page.parent / "repeats.json"
    if not listed.exists():
        return [json.loads((page.parent / "summary.json").read_text())]
    folder = page.parent.parent
    return [
        json.loads((folder / run["run_id"] / "summary.json").read_text())
        for run in json.loads(listed.read_text())["runs"]
    ]


def tps(page: Path) -> list[float]:
    return [summary["tps"]["all"] for summary in summaries(page)]


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def spread(values: list[float]) -> float:
    return (max(values) - min(values)) / middle(values)


@dataclass(frozen=True)
class Row:
    """A limit, and what was measured."""

    what: str
    asked: str
    got: str
    held: bool


def table(columns: Mapping[str, Sequence[Row]]) -> str:
    """A row for each limit, a column for each emulator; what another did not measure is left out."""
    lines = [f"| what | at most | {' | '.join(columns)} |", "|---|---|" + "---|" * len(columns)]
    limits = {(row.what, row.asked): None for rows in columns.values() for row in rows}
    for what, asked in limits:
        cells = []
        for rows in columns.values():
            found = [row for row in rows if row.what == what]
            cells.append(f"{found[0].got}{'' if found[0].held else ', NOT held'}" if found else "")
        lines.append(f"| {what} | {asked} | {' | '.join(cells)} |")
    return "\n".join(lines)


@contextlib.contextmanager
def busy(number: int) -> Iterator[None]:
    """As many processes that take all of a CPU that they get."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def fresh_board(cache: Path) -> list[float]:
    """TPS of SMALL and of FLASH on boards built, booted and prepared anew; tools are shared."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT))
    try:
        for tool in [*cache.glob("build-root-*"), *cache.glob("driver-*"), cache / "sqlite"]:
            (folder / tool.name).symlink_to(tool)
        return [tps(finish(call(*cell, cache=folder)))[0] for cell in (SMALL, FLASH)]
    finally:
        shutil.rmtree(folder)


def wall(*variables: str) -> float:
    """Wall seconds of a second call."""
    finish(call(*variables))
    begin = time.monotonic()
    finish(call(*variables))
    return time.monotonic() - begin


def host_seconds(page: Path, name: str) -> float:
    return float(json.loads((page.parent / "host.json").read_text())[name])


def say(what: str) -> None:
    """Tell what is being done, beside the table."""
    print(f"bench-repeat: {what} …", file=sys.stderr, flush=True)


def boards(cache: Path) -> Iterator[Row]:
    """How far boards that are built from nothing differ."""
    say("build, boot and prepare three boards from nothing")
    small, flash = map(list, zip(*(fresh_board(cache) for _ in range(3)), strict=True))
    for values, cell in ((small, ""), (flash, f", `{' '.join(FLASH)}`")):
        what = f"spread over 3 boards, each built and booted from nothing{cell}"
        yield Row(what, "0.001", f"{spread(values):.2e}", spread(values) <= 1e-3)


def restores() -> Iterator[Row]:
    """How far restores of one snapshot differ, alone and beside others."""
    say("ten restores of one snapshot")
    quiet = finish(call(*SMALL, "REPEAT=10"))
    values = tps(quiet)
    what = "spread of TPS over 10 restores of one snapshot"
    yield Row(what, "1e-5", f"{spread(values):.1e}", spread(values) <= 1e-5)
    sequences = {summary["block_sequence_sha256"] for summary in summaries(quiet)}
    what = "different sequences of block commands in them"
    yield Row(what, "1", str(len(sequences)), len(sequences) == 1)

    say("run under load")
    with busy(os.cpu_count() or 1):
        loaded = tps(finish(call(*SMALL, "REPEAT=3")))
    change = abs(middle(loaded) / middle(values) - 1)
    what = "change of the median, a busy loop on every core"
    yield Row(what, "1e-5", f"{change:.1e}", change <= 1e-5)
    pair = [call(*SMALL, "REPEAT=3"), call("FS=ext4", "ROWS=1000", "N=100", "REPEAT=3")]
    pages = [finish(process) for process in pair]
    change = abs(middle(tps(pages[0])) / middle(values) - 1)
    what = "change of the median, a second cell beside"
    yield Row(what, "1e-5", f"{change:.1e}", change <= 1e-5)


def engines() -> Iterator[Row]:
    """How far restores of a cell of each engine of keys and values differ."""
    for engine, more in KEY_VALUES.items():
        cell = (f"ENGINE={engine}", "WORKLOAD=kv", "ROWS=1000", "N=100", *more)
        say(f"ten restores of {engine}")
        page = finish(call(*cell, "REPEAT=10"))
        sequences = {summary["block_sequence_sha256"] for summary in summaries(page)}
        change = spread(tps(page))
        got = f"{len(sequences)}, {change:.1e}"
        what = f"different sequences of block commands and spread of TPS over 10 restores, `{' '.join(cell)}`"
        yield Row(what, "1, 1e-5", got, len(sequences) == 1 and change <= 1e-5)


def walls() -> Iterator[Row]:
    """What a run costs in wall time."""
    say("wall times")
    page = finish(call(*SMALL))
    start = host_seconds(page, "restore_seconds") + host_seconds(page, "start_seconds")
    yield Row("restore to start of the workload, wall s", "3", f"{start:.2f}", start <= 3)
    for asked, variables in ((60, ("ROWS=100000", "N=1000")), (15, ("ROWS=1000", "N=100"))):
        took = wall(*variables)
        what = f"second call, `{' '.join(variables)}`, wall s"
        yield Row(what, str(asked), f"{took:.1f}", took <= asked)
    for cell, of in (("PROBES=none", "alone"), ("", "each of the watched run and its twin, at once")):
        page = finish(call("DEVICE=galaxy-nexus", *cell.split()))
        ratio = summaries(page)[0]["virtual_per_wall"]
        what = f"virtual s per wall s, default cell under galaxy-nexus, {of}"
        yield Row(what, ">= 3", f"{ratio:.2f}", ratio >= 3)


def main() -> None:
    """Print the table; exit 1 where a row does not hold."""
    cache = Path(os.environ.get("COMMITPATH_CACHE", ROOT / ".cache"))
    columns: dict[str, list[Row]] = {}
    for name, choice in {"Debian's QEMU": "stock", "ours": "own"}.items():
        if choice == "own" and not emulator.built():
            say("ours is not there: `make emulator` builds it")
            continue
        CHOSEN["COMMITPATH_EMULATOR"] = choice
        say(name)
        columns[name] = [*restores(), *engines(), *walls()]
    CHOSEN["COMMITPATH_EMULATOR"] = "stock"
    columns["Debian's QEMU"] += boards(cache)
    print(table(columns))
    failed = [f"{row.what} ({name})" for name, rows in columns.items() for row in rows if not row.held]
    if failed:
        sys.exit(f"bench: not held: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
