"""A recorded run's ledger is whole; with one fault in any of its links it is not.

The run is bench/sample.tar.xz: ext4, DELETE mode, as recorded on the virtual board.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis import audit, stages
from analysis.adapters.proberecords import HEADER, RECORD, TYPES
from analysis.checks import cross_check
from analysis.checks import ledger as checks

SAMPLE = Path(__file__).parent.parent / "bench/sample.tar.xz"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    shutil.unpack_archive(SAMPLE, folder)
    return folder / "run"


def records(folder: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    """Change the records of probes.bin."""
    path = folder / "raw/probes.bin"
    data = path.read_bytes()
    rows = np.frombuffer(data[HEADER.itemsize :], RECORD).copy()
    path.write_bytes(data[: HEADER.itemsize] + change(rows).tobytes())


def within(rows: np.ndarray, name: str) -> np.ndarray:
    """The places of a type's records in the middle of the run, where nothing is at an edge."""
    at = np.flatnonzero(rows["type"] == TYPES[name])
    return at[at.size // 3 : -(at.size // 3)]


def lose(name: str, field: str = "n", least: int = 0) -> Callable[[Path], None]:
    """Drop the first record of a type whose `field` is at least `least`."""

    def spoil(folder: Path) -> None:
        def change(rows: np.ndarray) -> np.ndarray:
            places = within(rows, name)
            return np.delete(rows, places[rows[field][places] >= least][0])

        records(folder, change)

    return spoil


def swap(name: str) -> Callable[[Path], None]:
    """Exchange the sectors of two writes that follow each other."""

    def spoil(folder: Path) -> None:
        def change(rows: np.ndarray) -> np.ndarray:
            places = within(rows, name)
            one, other = places[rows["n"][places] > 0][:2]
            rows["a"][[one, other]] = rows["a"][[other, one]]
            return rows

        records(folder, change)

    return spoil


def other_page(folder: Path) -> None:
    """Let a page of the journal seem to be one of the database."""

    def change(rows: np.ndarray) -> np.ndarray:
        places = within(rows, "pages")
        files = places[rows["flags"][places] == 0]
        inodes = np.unique(rows["a"][files])
        one = files[rows["a"][files] == inodes[0]][0]
        rows["a"][one] = inodes[1]
        return rows

    records(folder, change)


def lose_call(op: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "raw/driver/vfs.csv"
        lines = path.read_text().splitlines(keepends=True)
        place = next(i for i in range(len(lines) // 2, len(lines)) if f",{op}," in lines[i])
        path.write_text("".join(lines[:place] + lines[place + 1 :]))

    return spoil


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a lost command": (lose("block", least=1), "bios that were not completely executed"),
    "a lost bio": (lose("bio", least=1), "bios are missing in the sequence of serial numbers"),
    "a lost bio's bytes": (lose("bio", least=1), "commands not covered by bios"),
    "lost pages": (lose("pages"), "bios without all their pages"),
    "a lost commit": (lose("commit"), "gaps in the journal's commits"),
    "a lost sync": (lose("sync"), "SQLite calls with another number of filesystem syncs"),
    "a swapped command": (swap("block"), "commands not covered by bios"),
    "a swapped bio": (swap("bio"), "2 bios differ from those that blktrace saw"),
    "another file's page": (other_page, "1 pages that SQLite wrote and synced were not on the device"),
    "a lost write": (lose_call("write"), "vfs.csv has call"),
    "a lost open": (lose_call("open"), "vfs.csv has call"),
    "a lost sync call": (lose_call("sync"), "SQLite calls with another number of filesystem syncs"),
}


def test_the_recorded_ledger_is_whole(recorded: Path) -> None:
    run = stages.build(recorded)
    assert run.ledger is not None
    assert cross_check.ledger_agrees(run) == [] == audit.reasons(run)
    assert checks.unattributed_share(run.ledger) == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, recorded: Path, tmp_path: Path) -> None:
    spoil, reason = FAULTS[fault]
    folder = Path(shutil.copytree(recorded, tmp_path / "run"))
    spoil(folder)
    run = stages.build(folder)
    found = cross_check.ledger_agrees(run) + audit.reasons(run)
    assert any(reason in one for one in found), found
