"""What was written to the device, as it was kept beside the probes: the bytes themselves."""

from __future__ import annotations

import numpy as np
from forged import Forged
from side import Absent
from witnesses import SECTOR, Commands

from kinds import kind, pairs, some

PAGE = 8 * SECTOR


def _with_data(run: Forged) -> np.ndarray:
    return np.array([i for i, data in enumerate(run.content.data) if data], np.int64)


def _exchange(run: Forged, one: int, other: int) -> None:
    data = run.content.data
    data[one], data[other] = data[other], data[one]


@kind
def bytes_changed(run: Forged, draw: np.random.Generator) -> None:
    """some bytes of what was written are other ones"""
    for i in some(draw, _with_data(run)).tolist():
        data = bytearray(run.content.data[i])
        for at in draw.integers(0, len(data), 4).tolist():
            data[at] ^= int(draw.integers(1, 256))
        run.content.data[i] = bytes(data)


@kind
def pages_zeroed(run: Forged, draw: np.random.Generator) -> None:
    """pages of what was written are all zeros"""
    for i in some(draw, _with_data(run)).tolist():
        data = bytearray(run.content.data[i])
        at = int(draw.integers(0, len(data) // PAGE)) * PAGE if len(data) >= PAGE else 0
        data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
        run.content.data[i] = bytes(data)


@kind
def data_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """writes of one size that follow each other exchange what they wrote"""
    places = _with_data(run)
    size = run.content.records["bytes"][places]
    alike = places[size == draw.choice(np.unique(size))]
    for one, other in zip(*pairs(draw, alike), strict=True):
        _exchange(run, int(one), int(other))


@kind
def far_data_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """writes of one size from different parts of the run exchange what they wrote"""
    places = _with_data(run)
    size = run.content.records["bytes"][places]
    alike = draw.permutation(places[size == draw.choice(np.unique(size))])
    for one, other in zip(*pairs(draw, alike), strict=True):
        _exchange(run, int(one), int(other))


@kind
def writes_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """two writes of one size exchange their sectors and what they wrote, in every witness"""
    found = Commands(run)
    writes = found.writes()
    size = draw.choice(np.unique(run.records["n"][writes]))
    for one, other in zip(*pairs(draw, writes[run.records["n"][writes] == size]), strict=True):
        first, second = found.of(one), found.of(other)
        if first.kept is None or second.kept is None:
            raise Absent("content")
        places = int(run.records["a"][one]), int(run.records["a"][other])
        found.move(first, places[1])
        found.move(second, places[0])
        _exchange(run, first.kept, second.kept)


@kind
def data_not_kept(run: Forged, draw: np.random.Generator) -> None:
    """what writes wrote was not kept, and the file says so"""
    for i in some(draw, _with_data(run)).tolist():
        run.content.data[i] = b""


@kind
def records_not_kept(run: Forged, draw: np.random.Generator) -> None:
    """commands are lost in what was kept"""
    gone = some(draw, np.arange(run.content.records.size))
    run.content = run.content.kept(~np.isin(np.arange(run.content.records.size), gone))


@kind
def kept_earlier(run: Forged, draw: np.random.Generator) -> None:
    """what was kept says that commands came 50 µs earlier"""
    run.content.records["time_ns"][some(draw, np.arange(run.content.records.size))] -= np.uint64(50_000)


@kind
def kept_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """what was kept says that writes went to other sectors"""
    run.content.records["sector"][some(draw, _with_data(run))] += np.uint64(8 * int(draw.integers(1, 1000)))
