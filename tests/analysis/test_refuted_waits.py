"""Times of single waits, syncs and bios that were not so are refuted, on recorded runs; what is wrong of all
records of a type is in test_refuted_ledger.py."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_refuted_ledger import Change, of, records, stretch, wrong


def one_bio_earlier(rows: np.ndarray) -> np.ndarray:
    """A bio was queued 20 ms before it was, by its number."""
    bio = of(rows, "bio")[40]
    rows["begin_ns"][bio] -= np.uint64(20_000_000)
    rows["end_ns"][bio] -= np.uint64(20_000_000)
    return rows


def bios_a_little_later(rows: np.ndarray) -> np.ndarray:
    """All bios were queued 0.2 ms later, but none after its command."""
    bios = of(rows, "bio")
    for field in ("begin_ns", "end_ns"):
        rows[field][bios] += np.uint64(200_000)
    return rows


def shorter(name: str, factor: float) -> Change:
    """The time of each wait for data that the driver was off the CPU is told shorter."""

    def change(rows: np.ndarray) -> np.ndarray:
        data, off = of(rows, name), of(rows, "off_cpu")
        begins, ends = rows["begin_ns"][off], rows["end_ns"][off]
        for wait in rows[data[10:14]]:
            inner = off[(begins > wait["begin_ns"]) & (ends < wait["end_ns"])]
            span = (rows["end_ns"][inner] - rows["begin_ns"][inner]) * factor
            rows["end_ns"][inner] = rows["begin_ns"][inner] + span.astype(np.uint64)
        return rows

    return change


def within_data(rows: np.ndarray) -> int:
    """The place of a wait for a commit that lies in a wait for data."""
    waits, data = of(rows, "commit_wait"), rows[of(rows, "data_wait")]
    begins, ends = rows["begin_ns"][waits][:, None], rows["end_ns"][waits][:, None]
    return int(waits[((data["begin_ns"] < begins) & (data["end_ns"] > ends)).any(axis=1)][3])


def a_wait_lost(rows: np.ndarray) -> np.ndarray:
    return np.delete(rows, within_data(rows))


def a_wait_of_another(rows: np.ndarray) -> np.ndarray:
    rows["tid"][within_data(rows)] = 1
    return rows


FAULTS: dict[str, tuple[str, Change, str]] = {
    "a bio earlier": ("ext4-ordered-delete", one_bio_earlier, "bios differ from those that blktrace saw"),
    "bios later": ("f2fs-wal", bios_a_little_later, "bios differ from those that blktrace saw"),
    "shorter off the CPU for data": (
        "ext4-ordered-delete",
        shorter("data_wait", 0.1),
        "waits for data in which the waiting thread",
    ),
    "shorter off the CPU for nodes": (
        "f2fs-wal",
        shorter("node_wait", 0.5),
        "waits for nodes in which the waiting thread",
    ),
    "a wait for a commit": (
        "ext4-journal-truncate",
        a_wait_lost,
        "commits that began in a sync that did not wait",
    ),
    "a wait for a commit of another thread": (
        "ext4-journal-truncate",
        a_wait_of_another,
        "1 waits for data in which the thread 1013 waited for nothing",
    ),
    "syncs that take no time": ("f2fs-delete", stretch("sync", 0), "calls continue after their syncs"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_refuted(fault: str, copy_run: Callable[[str], Path]) -> None:
    name, change, reason = FAULTS[fault]
    folder = copy_run(f"samples/{name}")
    records(change)(folder)
    found = wrong(folder)
    assert any(reason in one for one in found), found
