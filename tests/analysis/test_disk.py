"""Checks of a watched partition: flushes of its disk by counter and tracer, and the probes' self-test."""

import dataclasses
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from some_cell import some_cell

from analysis.adapters.known_sequence import KnownSequence
from analysis.adapters.proberecords import RECORD
from analysis.checks import disk
from analysis.run import Run
from model.covariates import Covariates

MS = 1_000_000
# When flush commands were issued; each takes 1 ms.
ISSUED = (90, 104, 300, 500, 896, 905, 950)


def edge(flushes: str | None, begin: int, end: int) -> dict[str, Any]:
    times = {"counted_from_ns": str(begin * MS), "counted_until_ns": str(end * MS)}
    return times if flushes is None else {"disk/flush_ios": flushes, **times}


def run(flushes: str | None = "14", traced: int = 3, **changes: Any) -> Run:
    """A run whose disk was sent ISSUED; its counter went from 10 to `flushes` between 100 and 910 ms, and
    another observer saw `traced` in the window, which is from 120 to 899 ms."""
    begins = np.array(ISSUED) * MS
    events = pl.DataFrame(
        {"source": "probe", "event": "block", "rwbs": "FF", "begin_ns": begins, "end_ns": begins + MS}
    )
    fields = {
        "partition": object(),
        "probes": ["all"],
        "events": events,
        "witnesses": {"blktrace": SimpleNamespace(commands={"flush": traced})},
        "driver": SimpleNamespace(window=(120 * MS, 899 * MS)),
        "board": SimpleNamespace(covariates=Covariates(edge("10", 100, 110), edge(flushes, 900, 910), {})),
        "cell": some_cell(profiles={"fs": {"type": "ext4"}}),
        **changes,
    }
    return cast(Run, SimpleNamespace(**fields))


def test_flushes_of_the_disk_are_as_its_counter_and_the_tracer_have_them() -> None:
    # surely between the readings: of 300, 500 and 896; and maybe those of 104 and 905
    for flushes in ("13", "14", "15"):
        assert disk.flushes(run(flushes)) == []
    assert disk.flushes(run(partition=None)) == []


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        (run("12"), "flushes of the disk while the driver ran: stat 2, probe 3 to 5"),
        (run("16"), "flushes of the disk while the driver ran: stat 6, probe 3 to 5"),
        (run(traced=2), "flushes of the disk in the window: blktrace 2, probe 3 to 3"),
        (
            run(None),
            "raw/board/covariates.json: the disk's flush counter or the time of its readings is missing",
        ),
    ],
)
def test_a_flush_that_one_of_them_did_not_see_is_told(spoiled: Run, said: str) -> None:
    assert disk.flushes(spoiled) == [said]


def test_a_partition_is_watched_by_proved_probes() -> None:
    rows = np.zeros(0, RECORD)
    stat = {"write_ios": 0, "write_sectors": 0, "flush_ios": 0}
    one = KnownSequence([], stat, {}, 1, 1, rows, (0, 0), False, flushes=(0, 0, 0))
    given = {
        "plan": {"runs": {"run": {"probes": ["block"]}}},
        "board": SimpleNamespace(mount=None, data_mode="ordered"),
    }
    assert disk.rehearsed(run(**given, known=one)) == ["probe self-test on this partition: block: no writes"]
    odd = dataclasses.replace(one, stat={**stat, "write_ios": 5})
    found = disk.rehearsed(run(**given, known=odd))
    assert any("neither with the empty flushes nor without" in line for line in found)
    (line,) = disk.rehearsed(run(**given, known=None))
    assert line.startswith("raw/known: the probe self-test")
    assert disk.rehearsed(run(partition=None)) == []


def test_without_a_journal_nothing_is_seen_to_wait_for_it() -> None:
    stat = {"write_ios": 0, "write_sectors": 0, "flush_ios": 0}
    one = KnownSequence([], stat, {}, 1, 1, np.zeros(0, RECORD), (0, 0), False, flushes=(0, 0, 0))
    plan = {"runs": {"run": {"probes": ["ext4"]}}}
    board = SimpleNamespace(mount=SimpleNamespace(fs="ext4"), data_mode="ordered")
    for options, no_wait in (("-b 1024", True), ("-O quota,^has_journal", False)):
        cell = some_cell(profiles={"fs": {"type": "ext4", "mkfs": ["-q"]}}, mkfs_options=options)
        found = disk.rehearsed(run(plan=plan, board=board, known=one, cell=cell))
        assert any("no wait for a journal" in line for line in found) == no_wait
