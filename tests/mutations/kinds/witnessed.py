"""Block commands, forged alike in all that recorded them: the probes, the block tracer, the device."""

from __future__ import annotations

import numpy as np
from doubled import again
from forged import Forged
from witnesses import Commands

from analysis.adapters import blkrecords
from analysis.adapters.blkrecords import ACTION, COMPLETE, ISSUE
from analysis.ledger.match import FUA, PREFLUSH
from kinds import kind, pairs, some

MS = 1_000_000


@kind
def sectors_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """two writes of one size exchange their sectors, in every witness"""
    found = Commands(run)
    writes = found.writes()
    size = draw.choice(np.unique(run.records["n"][writes]))
    for one, other in zip(*pairs(draw, writes[run.records["n"][writes] == size]), strict=True):
        first, second = found.of(one), found.of(other)
        places = int(run.records["a"][one]), int(run.records["a"][other])
        found.move(first, places[1])
        found.move(second, places[0])


@kind
def far_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """two writes of one size from different parts of the run exchange their sectors, in every witness"""
    found = Commands(run)
    writes = found.writes()
    size = draw.choice(np.unique(run.records["n"][writes]))
    alike = draw.permutation(writes[run.records["n"][writes] == size])
    for one, other in zip(*pairs(draw, alike), strict=True):
        first, second = found.of(one), found.of(other)
        places = int(run.records["a"][one]), int(run.records["a"][other])
        found.move(first, places[1])
        found.move(second, places[0])


@kind
def written_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """writes go to sectors where nothing was, in every witness"""
    found = Commands(run)
    for place in some(draw, found.writes()):
        found.move(found.of(place), int(run.records["a"][place]) + 8 * int(draw.integers(1, 50_000)))


@kind
def not_written(run: Forged, draw: np.random.Generator) -> None:
    """writes are gone with their bios, in every witness and the counters"""
    found = Commands(run)
    found.drop([found.of(place) for place in some(draw, found.writes())])


@kind
def twice_written(run: Forged, draw: np.random.Generator) -> None:
    """writes are there twice with their bios, in every witness and the counters"""
    found = Commands(run)
    # the last one first: what is put in behind it moves none of the others
    whole = [place for place in found.writes() if found.of(place).bios.size]
    for place in some(draw, np.array(whole, np.int64))[:20][::-1]:
        again(run, Commands(run), int(place))


@kind
def not_fua(run: Forged, draw: np.random.Generator) -> None:
    """writes lose their FUA, in every witness"""
    found = Commands(run)
    for place in some(draw, found.writes(FUA)):
        found.flag(found.of(place), FUA, blkrecords.FUA)


@kind
def is_fua(run: Forged, draw: np.random.Generator) -> None:
    """writes are made FUA, in every witness"""
    found = Commands(run)
    writes = found.writes()
    for place in some(draw, writes[run.records["b"][writes] & FUA == 0]):
        found.flag(found.of(place), FUA, blkrecords.FUA)


@kind
def not_preflush(run: Forged, draw: np.random.Generator) -> None:
    """bios lose their PREFLUSH, in every witness"""
    bios = run.of("bio")
    chosen = some(draw, bios[run.records["b"][bios] & PREFLUSH > 0])
    rows = run.records[chosen]
    run.records["b"][chosen] ^= np.uint64(PREFLUSH)
    if run.has_trace:
        traced = run.trace.records
        for time in rows["begin_ns"].tolist():
            near = abs(traced["time"].astype(np.int64) - time) < 3000
            traced["action"][near & (traced["action"] & blkrecords.FLUSH > 0)] &= np.uint32(
                0xFFFFFFFF ^ blkrecords.FLUSH
            )


@kind
def larger_writes(run: Forged, draw: np.random.Generator) -> None:
    """writes have one page more, in every witness and the counters"""
    found = Commands(run)
    writes = [found.of(place) for place in found.writes()]
    alone = np.array([i for i, one in enumerate(writes) if one.bios.size == 1 and one.pages.size == 1])
    for i in some(draw, alone.astype(np.int64)):
        found.resize(writes[i], int(run.records["n"][writes[i].block]) + 8)


@kind
def smaller_writes(run: Forged, draw: np.random.Generator) -> None:
    """writes have one page less, in every witness and the counters"""
    found = Commands(run)
    writes = [found.of(place) for place in found.writes(least=16)]
    alone = np.array([i for i, one in enumerate(writes) if one.bios.size == 1 and one.pages.size == 1])
    for i in some(draw, alone.astype(np.int64)):
        found.resize(writes[i], int(run.records["n"][writes[i].block]) - 8)


@kind
def traced_late(run: Forged, draw: np.random.Generator) -> None:
    """the block tracer's completions are later by 1 ms"""
    traced = run.trace.records
    done = np.flatnonzero(traced["action"] & ACTION == COMPLETE)
    traced["time"][some(draw, done)] += np.uint64(MS)


@kind
def issued_earlier(run: Forged, draw: np.random.Generator) -> None:
    """commands are issued 0.3 ms earlier, in every witness but the device"""
    found = Commands(run)
    for place in some(draw, found.blocks):
        one = found.of(place)
        run.records["begin_ns"][place] -= np.uint64(300_000)
        run.records["c"][place] -= np.uint64(300_000)
        if one.traced.size:
            traced = run.trace.records
            issued = one.traced[traced["action"][one.traced] & ACTION == ISSUE]
            traced["time"][issued] -= np.uint64(300_000)
        if one.kept is not None:
            run.content.records["time_ns"][one.kept] -= np.uint64(300_000)


@kind
def device_log_late(run: Forged, draw: np.random.Generator) -> None:
    """the device's log says that commands came and were done 30 µs later"""
    places = some(draw, np.arange(run.log.size))
    for field in ("begin_ns", "end_ns"):
        run.log[field][places] += np.uint64(30_000)


@kind
def device_log_quick(run: Forged, draw: np.random.Generator) -> None:
    """the device's log says that commands took half as long"""
    places = some(draw, np.arange(run.log.size))
    span = run.log["end_ns"][places] - run.log["begin_ns"][places]
    run.log["end_ns"][places] -= span // np.uint64(2)
