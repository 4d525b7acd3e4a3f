"""Compare the probes' records of a known sequence of writes and syncs with that sequence.

playbooks/board/known-sequence.sh runs the sequence. An attached probe may still miss events: on one kernel,
thousands of records were lost. Therefore each type of record is counted before a kernel is used. On a shared
disk the sequence runs with every run (raw/known/). Other partitions write and flush meanwhile, so the
number of flushes is bounded, not exact (checks/disk.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis.adapters.known_sequence import KnownSequence, operation
from analysis.adapters.proberecords import CALLERS, OWNERS
from model.block_operations import FLUSH, PREFLUSH, READ, WRITE

_PAGE_SECTORS = 8


def wrong(
    known: KnownSequence,
    probes: Sequence[str],
    own: str,
    journals_data: bool = False,
    journalled: bool = True,
) -> list[str]:
    """Return a line for each difference between record and sequence; own: the filesystem's probe.

    journals_data: file pages are written to a journal first, without an owner, on some kernels one by one.
    journalled: a sync may wait for a journal, a log or nodes; these waits are counted.
    """
    checks: dict[str, Sequence[Callable[[KnownSequence], list[str]]]] = {
        "block": (_commands,),
        "bio": (_bios, *(() if journals_data else (_pages, _of_several_pages))),
        own: (_syncs, _names, _data_waits, *((_waits, _as_counted) if journalled else ())),
        "flush": (_some("flush"),) if known.cached else (),
        "wait": (_off_cpu,),
        "writeback": (_written_back,),
    }
    differences = [
        f"{lost} records were lost: {why}" for lost, why in zip(known.lost, _LOST, strict=True) if lost
    ]
    for name in probes:
        differences += [f"{name}: {line}" for check in checks.get(name, ()) for line in check(known)]
    if {"block", "bio"} <= set(probes):
        differences += _bios_as_commands(known)
    if {"bio", "flush"} <= set(probes) and known.cached:
        differences += _empty_flushes(known)
    return differences


_LOST = ("the ring was full", "the end of an event was not recorded")


def _differ(what: str, recorded: int, was: int) -> list[str]:
    return [] if recorded == was else [f"{what}: {recorded} recorded, {was} expected"]


def _commands(known: KnownSequence) -> list[str]:
    """Compare commands with the kernel's counters."""
    commands = known.records("block", known.disk)
    writes, flushes = commands[operation(commands) == WRITE], commands[operation(commands) == FLUSH]
    differences = _differ("sectors written", int(writes["n"].sum()), known.stat["write_sectors"])
    if known.flushes is None:
        differences += _differ("flushes", flushes.size, known.stat["flush_ios"])
    elif not known.flushes[1] <= known.flushes[0] <= known.flushes[2]:
        counted, least, most = known.flushes
        differences.append(f"flushes: {least} to {most} recorded, {counted} expected")
    return [
        *differences,
        *_in_sequence(known, "block", "command"),
        *([] if flushes.size or not known.cached else ["no flushes"]),
        *([] if writes.size else ["no writes"]),
    ]


def _in_sequence(known: KnownSequence, name: str, what: str) -> list[str]:
    """Check that no record is missing between the device's first and last number.

    Numbers in between may belong to other devices.
    """
    numbers, all_numbers = known.records(name, known.disk)["d"], known.records(name)["d"]
    if not numbers.size:
        return []
    between = int(np.count_nonzero((all_numbers >= numbers.min()) & (all_numbers <= numbers.max())))
    return _differ(
        f"numbers between the first and the last {what}", between, int(numbers.max() - numbers.min()) + 1
    )


def _bios(known: KnownSequence) -> list[str]:
    """Each with as many runs of pages as it says, each read with some, and all pages of each write. A log may
    be written by sectors: its last page then is there in part."""
    bios, pages = known.records("bio", known.disk), known.records("pages", known.disk)
    writes = bios[operation(bios) == WRITE]
    reads = bios[(operation(bios) == READ) & (bios["n"] > 0)]
    runs = {int(bio["d"]): int(bio["flags"]) for bio in bios}
    numbers, had = np.unique(pages["d"], return_counts=True)
    of_pages = dict(zip(numbers.tolist(), had.tolist(), strict=True))
    return [
        *_in_sequence(known, "bio", "bio"),
        *_differ("bios with other runs of pages than they say", _unequal(runs, of_pages), 0),
        *_differ(
            "pages of writes",
            int(pages["n"][np.isin(pages["d"], writes["d"])].sum()),
            int((-(-writes["n"].astype(np.int64) // _PAGE_SECTORS)).sum()),
        ),
        *_differ("reads without pages", int((reads["flags"] == 0).sum()), 0),
    ]


def _of_several_pages(known: KnownSequence) -> list[str]:
    """Check that some bio has more than one page."""
    return [] if (known.records("pages", known.disk)["n"] > 1).any() else ["no bio with more than one page"]


def _unequal(left: dict[int, int], right: dict[int, int]) -> int:
    return sum(left.get(key, 0) != right.get(key, 0) for key in left.keys() | right.keys())


def _pages(known: KnownSequence) -> list[str]:
    pages = known.records("pages", known.disk)
    bios = known.records("bio", known.disk)
    written = np.isin(pages["d"], bios["d"][operation(bios) == WRITE])
    pages = pages[written & (pages["flags"] == OWNERS.index("file"))]
    return [
        line
        for file in known.files
        if not file.is_directory
        for line in _differ(
            f"pages of {file.name}", int(pages["n"][pages["a"] == file.inode].sum()), file.pages
        )
    ]


def _syncs(known: KnownSequence) -> list[str]:
    """Check each file's syncs by caller, flags and result, and the total of the filesystem."""
    syncs = known.records("sync", known.filesystem)
    caller, differences = syncs["flags"] >> 4, []
    for file in known.files:
        for way, number in file.syncs.items():
            of_file = syncs[(syncs["a"] == file.inode) & (caller == CALLERS.index(way))]
            good = (of_file["flags"] & 1) == (way != "fsync")
            good &= ((of_file["flags"] & 2) != 0) == file.is_directory
            good &= of_file["n"] == 0
            differences += _differ(f"syncs of {file.name} by {way}", int(good.sum()), number)
    number = sum(sum(file.syncs.values()) for file in known.files)
    return [*differences, *_differ("syncs in all", syncs.size, number)]


def _names(known: KnownSequence) -> list[str]:
    """Check the names, which are recorded at a file's first sync."""
    rows = known.records("name", known.filesystem)
    text = np.ascontiguousarray(rows).view(np.uint8).reshape(-1, rows.dtype.itemsize)[:, 40:64]
    names = {int(row["a"]): bytes(one).rstrip(b"\0").decode() for row, one in zip(rows, text, strict=True)}
    return [
        f"the name of {file.name} is {names.get(file.inode)!r}"
        for file in known.files
        if any(file.syncs.values()) and not file.is_directory and names.get(file.inode) != file.name
    ]


def _data_waits(known: KnownSequence) -> list[str]:
    """Check for a data wait in each sync of a file; directories may have none."""
    waits = known.records("data_wait", known.filesystem)
    return [
        line
        for file in known.files
        if not file.is_directory
        for line in _differ(
            f"waits for the data of {file.name}",
            int((waits["a"] == file.inode).sum()),
            sum(file.syncs.values()),
        )
    ]


def _waits(known: KnownSequence) -> list[str]:
    """Check that some sync waited for a journal, log or nodes."""
    kinds = ("commit_wait", "node_wait")
    seen = any(known.records(name, known.filesystem).size for name in kinds)
    return [] if seen else ["no wait for a journal, log or nodes"]


def _as_counted(known: KnownSequence) -> list[str]:
    """Compare commits and checkpoints with the filesystem's counters of the same name."""
    return [
        line
        for name, number in known.counted.items()
        for line in [
            *_differ(f"records of type {name}", known.records(name, known.filesystem).size, number),
            *([] if number else [f"no {name}"]),
        ]
    ]


def _some(name: str) -> Callable[[KnownSequence], list[str]]:
    return lambda known: [] if known.records(name, known.filesystem).size else [f"no record of type {name}"]


def _off_cpu(known: KnownSequence) -> list[str]:
    """Check that the driver's thread waited at least once per sync."""
    comms, least = known.records("comm"), sum(file.syncs["kernel"] for file in known.files)
    drivers = comms["tid"][comms["a"] == int.from_bytes(b"driver", "little")]
    off = known.records("off_cpu")
    waited = int(np.isin(off["tid"], drivers).sum()) if drivers.size else off.size
    return [] if waited >= least else [f"the driver waited {waited} times, at least {least} expected"]


def _written_back(known: KnownSequence) -> list[str]:
    least = sum(file.pages for file in known.files if not any(file.syncs.values()))
    pages = int(known.records("writeback", known.disk)["n"].astype(np.int32).sum())
    return [] if pages >= least else [f"{pages} pages were written back, at least {least} expected"]


def _bios_as_commands(known: KnownSequence) -> list[str]:
    """Check that all sectors submitted by a filesystem reach the device."""
    bios, commands = known.records("bio", known.disk), known.records("block", known.disk)
    sectors = [int(rows["n"][operation(rows) == WRITE].sum()) for rows in (bios, commands)]
    return [f"bio: {line}" for line in _differ("sectors of writes", sectors[0], sectors[1])]


def _empty_flushes(known: KnownSequence) -> list[str]:
    """Compare the filesystem's flush records with its bios without sectors."""
    bios = known.records("bio", known.disk)
    empty = bios[(bios["n"] == 0) & (bios["b"] & PREFLUSH != 0)]
    recorded = known.records("flush", known.filesystem)
    return [f"flush: {line}" for line in _differ("empty flushes", recorded.size, empty.size)]
