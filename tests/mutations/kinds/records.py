"""Records of one type alone: lost, told twice, out of order, at another time."""

from __future__ import annotations

import numpy as np
from forged import Forged

from analysis.adapters.proberecords import TYPES
from kinds import kind, some

MS = 1_000_000
_LOST = ("sync", "bio", "commit", "commit_wait", "checkpoint", "data_wait", "node_wait", "off_cpu", "name")
_SPANS = (
    "sync",
    "block",
    "flush",
    "commit",
    "commit_wait",
    "checkpoint",
    "data_wait",
    "node_wait",
    "off_cpu",
)
_POINTS = ("bio", "name")


def _named(name: str, text: str):  # type: ignore[no-untyped-def]
    """Add a kind that is one of several made alike."""

    def add(spoil):  # type: ignore[no-untyped-def]
        spoil.__name__, spoil.__doc__ = name, text
        return kind(spoil)

    return add


def _lost(name: str) -> None:
    @_named(f"lost_{name}", "records of one type are lost")
    def spoil(run: Forged, draw: np.random.Generator) -> None:
        run.records = np.delete(run.records, some(draw, run.of(name)))


def _all_lost(name: str) -> None:
    @_named(f"no_{name}", "all records of one type are lost")
    def spoil(run: Forged, draw: np.random.Generator) -> None:
        run.records = np.delete(run.records, run.of(name))


def _shifted(name: str) -> None:
    @_named(f"shifted_{name}", "records of one type are at another time, by up to 20 ms")
    def spoil(run: Forged, draw: np.random.Generator) -> None:
        places, by = some(draw, run.of(name)), int(draw.choice([-20, -2, -0.2, 0.2, 2, 20]) * MS)
        for field in ("begin_ns", "end_ns"):
            run.records[field][places] = run.records[field][places].astype(np.int64) + by


def _stretched(name: str) -> None:
    @_named(f"stretched_{name}", "records of one type last longer or shorter")
    def spoil(run: Forged, draw: np.random.Generator) -> None:
        places, factor = some(draw, run.of(name)), draw.choice([0.0, 0.1, 0.5, 1.5, 4.0])
        rows = run.records[places]
        span = (rows["end_ns"] - rows["begin_ns"]).astype(float)
        run.records["end_ns"][places] = rows["begin_ns"] + (span * factor).astype(np.uint64)


for _name in _LOST:
    _lost(_name)
for _name in ("off_cpu", "commit_wait", "data_wait", "commit", "comm"):
    _all_lost(_name)
for _name in (*_SPANS, *_POINTS):
    _shifted(_name)
for _name in _SPANS:
    _stretched(_name)


@kind
def oldest_commits(run: Forged, draw: np.random.Generator) -> None:
    """the oldest 10 to 90 % of the journal's commits are lost"""
    places = run.of("commit")
    run.records = np.delete(run.records, places[: max(1, int(places.size * draw.uniform(0.1, 0.9)))])


@kind
def newest_commits(run: Forged, draw: np.random.Generator) -> None:
    """the newest 10 to 90 % of the journal's commits are lost"""
    places = run.of("commit")
    run.records = np.delete(run.records, places[-max(1, int(places.size * draw.uniform(0.1, 0.9))) :])


@kind
def oldest_commits_and_waits(run: Forged, draw: np.random.Generator) -> None:
    """the oldest commits are lost, and who waited for them"""
    commits, waits = run.of("commit"), run.of("commit_wait")
    lost = commits[: max(1, int(commits.size * draw.uniform(0.1, 0.9)))]
    gone = waits[np.isin(run.records["a"][waits], run.records["a"][lost])]
    run.records = np.delete(run.records, np.r_[lost, gone])


@kind
def lost_commands(run: Forged, draw: np.random.Generator) -> None:
    """records of block are lost, and the later ones are numbered anew"""
    run.records = np.delete(run.records, some(draw, run.of("block")))
    left = run.of("block")
    run.records["d"][left] = np.argsort(np.argsort(run.records["begin_ns"][left], kind="stable"))


@kind
def lost_bios_with_pages(run: Forged, draw: np.random.Generator) -> None:
    """bios are lost with their pages, and the later ones are numbered anew"""
    gone = some(draw, run.of("bio"))
    pages = run.of("pages")
    also = pages[np.isin(run.records["d"][pages], run.records["d"][gone])]
    run.records = np.delete(run.records, np.r_[gone, also])
    serials = np.sort(run.records["d"][run.of("bio")])
    for name in ("bio", "pages"):
        at = run.of(name)
        run.records["d"][at] = np.searchsorted(serials, run.records["d"][at])


@kind
def doubled(run: Forged, draw: np.random.Generator) -> None:
    """records of some type are there twice"""
    present = [name for name in TYPES if name not in ("attached", "detached", "comm", "name")]
    present = [name for name in present if (run.records["type"] == TYPES[name]).any()]
    places = some(draw, run.of(str(draw.choice(present))))
    run.records = np.insert(run.records, places, run.records[places])


@kind
def out_of_order(run: Forged, draw: np.random.Generator) -> None:
    """records change places in the file"""
    places = some(draw, np.arange(1, run.records.size - 1))
    run.records[places] = run.records[draw.permutation(places)]


@kind
def commands_late(run: Forged, draw: np.random.Generator) -> None:
    """each command completes 20 ms late"""
    run.records["end_ns"][run.of("block")] += 20 * MS


@kind
def flushes_early(run: Forged, draw: np.random.Generator) -> None:
    """flush commands complete early, by most of their time"""
    places = run.of("block")
    rows = run.records[places]
    flush = places[rows["b"] & 0xFF == 2]
    span = (run.records["end_ns"][flush] - run.records["begin_ns"][flush]) * 0.95
    run.records["end_ns"][flush] -= span.astype(np.uint64)


@kind
def queued_earlier(run: Forged, draw: np.random.Generator) -> None:
    """commands say that they were queued earlier, or just before their issue"""
    places = some(draw, run.of("block"))
    begin = run.records["begin_ns"][places]
    run.records["c"][places] = begin - np.uint64(draw.choice([1, 100_000, 5 * MS]))
