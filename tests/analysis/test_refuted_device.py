"""A device that was quicker than it can be is refused, of a run that nobody watched and of a twin.

The runs are WAL on F2FS (null_blk) and on ext4 (flashsim).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import synthetic
from test_device_log import change as change_log
from test_refuted_times import SAMPLES, WITH_TWIN, Rows, table

from analysis import checks
from analysis import run as runs
from analysis.adapters import driver
from analysis.checks import busy
from analysis.ledger.match import FLUSH, WRITE

TABLES = ("transactions", "phases", "device_stat")
TICKS = ("read_ticks", "write_ticks", "discard_ticks", "flush_ticks", "io_ticks", "time_in_queue")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name in WITH_TWIN:
        found[name] = tmp_path_factory.mktemp(name) / "cell/run"
        shutil.unpack_archive(SAMPLES[name], found[name].parent)
    return found


def unwatched(folder: Path) -> Path:
    """raw/ of a run that nobody watched, and all else of it."""
    synthetic.leave_twin(folder)
    return folder / "raw"


def grown(*names: str, by: float) -> Callable[[Rows], None]:
    """Let counters have grown by so many times as much since the first reading."""

    def change(rows: Rows) -> None:
        first = dict(rows[0])
        for row in rows:
            row |= {name: first[name] + int((row[name] - first[name]) * by) for name in names}

    return change


def ten_times_as_fast(raw: Path) -> None:
    zero = driver.read(raw / "driver").workload_phases["begin_ns"][0]

    def change(rows: Rows) -> None:
        for row in rows:
            for name in row:
                if name.endswith("_ns") and name != "cpu_ns" and row[name] > zero:
                    row[name] = zero + (row[name] - zero) // 10

    for name in TABLES:
        table(raw / f"driver/{name}.csv", change)


def with_its_ticks(raw: Path) -> None:
    ten_times_as_fast(raw)
    table(raw / "driver/device_stat.csv", grown(*TICKS, by=0.1))


def twice_the_requests(raw: Path) -> None:
    table(raw / "driver/device_stat.csv", grown("write_ios", "write_sectors", "flush_ios", by=2))


def with_their_ticks(raw: Path) -> None:
    twice_the_requests(raw)
    table(raw / "driver/device_stat.csv", grown("write_ticks", "flush_ticks", by=2))


def commands_halved(raw: Path) -> None:
    """In the device's log and the sum of its times."""
    less = 0

    def change(entries: np.ndarray) -> np.ndarray:
        nonlocal less
        half = (entries["end_ns"] - entries["begin_ns"]) // 2
        less = int(half.sum())
        entries["end_ns"] -= half
        return entries

    change_log(raw / "device.bin", change)
    counted(raw, "time_ns", lambda number: number - less)


def counted(raw: Path, name: str, change: Callable[[int], int]) -> None:
    path = raw / "board/device_time.txt"
    path.write_text(re.sub(f"(?m)^{name}=(.*)", lambda m: f"{name}={change(int(m[1]))}", path.read_text()))


def parts_halved(raw: Path) -> None:
    """And in its parts, too."""
    commands_halved(raw)
    path = raw / "board/device_time.txt"
    for name in re.findall("(?m)^(time_.*_ns)=", path.read_text()):
        counted(raw, name, lambda number: number // 2)


def flushes_too_quick(raw: Path) -> None:
    def change(entries: np.ndarray) -> np.ndarray:
        flushes = entries["operation"] == FLUSH
        entries["end_ns"][flushes] = entries["begin_ns"][flushes] + 1
        return entries

    change_log(raw / "device.bin", change)


def phase_moved(raw: Path) -> None:
    """The first phase took half as long, and the second has the rest."""

    def change(rows: Rows) -> None:
        rows[1]["time_ns"] -= (rows[1]["time_ns"] - rows[0]["time_ns"]) // 2

    table(raw / "driver/device_stat.csv", change)


def some_quicker_some_slower(raw: Path) -> None:
    """Of two writes the one took 0.1 ms less than the device's model says, and the other as much more."""

    def change(entries: np.ndarray) -> np.ndarray:
        took, plain = entries["end_ns"] - entries["begin_ns"], entries["operation"] == WRITE
        slowest, quickest = np.argmax(took * plain), np.flatnonzero(plain)[np.argmin(took[plain])]
        entries["end_ns"][slowest] -= 100_000
        entries["end_ns"][quickest] += 100_000
        return entries

    change_log(raw / "device.bin", change)


def a_command_lost(raw: Path) -> None:
    """The log says that one found no place in it."""
    data = bytearray((raw / "device.bin").read_bytes())
    data[24:32] = (1).to_bytes(8, "little")
    (raw / "device.bin").write_bytes(data)


def said_to_have_collected(raw: Path) -> None:
    """Times are not made again where garbage was collected, of which this device never does any."""
    some_quicker_some_slower(raw)
    counters = raw / "board/device_time.txt"
    counters.write_text(counters.read_text().replace("gc_busy_ns=0\n", "gc_busy_ns=1000\n"))


FAULTS: list[tuple[Callable[[Path], None], str, tuple[str, ...]]] = [
    (ten_times_as_fast, "the device was at work for", WITH_TWIN),
    (with_its_ticks, "each takes 2.0 ms at least", ("f2fs-wal",)),
    (twice_the_requests, "each takes 2.0 ms at least", ("f2fs-wal",)),
    (with_their_ticks, "ms one after the other, and it lasted", ("f2fs-wal",)),
    (commands_halved, "has time_ns", ("flash-wal",)),
    (parts_halved, "has time_command_ns", ("flash-wal",)),
    (flushes_too_quick, "commands were too quick", ("flash-wal",)),
    (some_quicker_some_slower, "2 commands took another time than the device's model says", ("flash-wal",)),
    (said_to_have_collected, "garbage was collected, where nothing was short of room", ("flash-wal",)),
    (a_command_lost, "raw/device.bin lost 1 commands with 285 of 1048576 in it", ("flash-wal",)),
    (phase_moved, "flushes, in the device's log", ("flash-wal",)),
]


@pytest.mark.parametrize("sample", WITH_TWIN)
@pytest.mark.parametrize("own", [True, False], ids=["watched", "unwatched"])
def test_what_was_recorded_holds(own: bool, sample: str, recorded: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(recorded[sample], tmp_path / "run"))
    if not own:
        unwatched(folder)
    run = runs.read(folder)
    assert [
        reason for check in (busy.long_enough, busy.as_modelled, busy.in_the_log) for reason in check(run)
    ] == []


@pytest.mark.parametrize(
    ("spoil", "reason", "sample"),
    [(spoil, reason, sample) for spoil, reason, samples in FAULTS for sample in samples],
)
@pytest.mark.parametrize("twin", [True, False], ids=["twin", "unwatched"])
def test_a_fault_rejects(
    twin: bool,
    spoil: Callable[[Path], None],
    reason: str,
    sample: str,
    recorded: dict[str, Path],
    tmp_path: Path,
) -> None:
    folder = Path(shutil.copytree(recorded[sample], tmp_path / "run"))
    spoil(folder / "twin/raw" if twin else unwatched(folder))
    found = checks.reasons(runs.read(folder))
    of = "untraced twin: " if twin else ""
    assert any(one.startswith(of) and reason in one for one in found), found


def test_a_parameter_that_is_not_there_rejects(recorded: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(recorded["flash-wal"], tmp_path / "run"))
    path = folder / "raw/board/device.txt"
    path.write_text(re.sub("(?m)^fua_ns=.*\n", "", path.read_text()))
    assert busy.as_modelled(runs.read(folder)) == ["raw/board/device.txt does not say fua_ns"]
