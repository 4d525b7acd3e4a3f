"""Check that the probes record a known sequence of writes and syncs completely.

playbooks/board/known-sequence.sh runs the sequence. An attached probe may still miss events: on one kernel,
thousands of records were lost. Therefore each type of record is counted before a kernel is used. On a shared
disk the sequence runs with every run (raw/known/). Other partitions write and flush meanwhile, so the
number of flushes is bounded, not exact (checks/disk.py).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from analysis.adapters.known_sequence import KnownSequence, operation
from analysis.adapters.proberecords import CALLERS, OWNERS
from model.block_operations import FLUSH, PREFLUSH, READ, WRITE
from model.filesystems import by_name, names

_PAGE_SECTORS = 8
_LOST = ("the ring was full", "the end of an event was not recorded")
_Check = Callable[[KnownSequence], Iterator[str]]


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
    anonymous = own in names() and by_name(own).anonymous
    checks: dict[str, Sequence[_Check]] = {
        "block": (_commands,),
        "bio": (_bios, *(() if journals_data else (_pages, _of_several_pages))),
        own: (_syncs, _names, _data_waits, *((_waits, _as_counted) if journalled else ())),
        "flush": (_flushes,) if known.cached else (),
        "wait": (_off_cpu,),
        "writeback": (partial(_written_back, dev=0 if anonymous else known.disk),),
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


def _differ(subject: str, recorded: int, expected: int) -> Iterator[str]:
    if recorded != expected:
        yield f"{subject}: {recorded} recorded, {expected} expected"


def _commands(known: KnownSequence) -> Iterator[str]:
    """Compare commands with the kernel's counters."""
    commands = known.records("block", known.disk)
    writes, flushes = commands[operation(commands) == WRITE], commands[operation(commands) == FLUSH]
    yield from _differ("sectors written", int(writes["n"].sum()), known.stat["write_sectors"])
    if known.flushes is None:
        yield from _differ("flushes", flushes.size, known.stat["flush_ios"])
    elif not known.flushes[1] <= known.flushes[0] <= known.flushes[2]:
        counted, least, most = known.flushes
        yield f"flushes: {least} to {most} recorded, {counted} expected"
    yield from _in_sequence(known, "block", "command")
    if known.cached and not flushes.size:
        yield "no flushes"
    if not writes.size:
        yield "no writes"


def _in_sequence(known: KnownSequence, name: str, noun: str) -> Iterator[str]:
    """Check that no record is missing between the device's first and last number.

    Numbers in between may belong to other devices.
    """
    numbers, all_numbers = known.records(name, known.disk)["d"], known.records(name)["d"]
    if numbers.size:
        first, last = int(numbers.min()), int(numbers.max())
        between = int(np.count_nonzero((all_numbers >= first) & (all_numbers <= last)))
        yield from _differ(f"numbers between the first and the last {noun}", between, last - first + 1)


def _bios(known: KnownSequence) -> Iterator[str]:
    """Compare bios with their runs of pages, and the pages of writes with their sectors.

    A log may be written by sectors; then its last page is recorded in part.
    """
    bios, pages = known.records("bio", known.disk), known.records("pages", known.disk)
    writes = bios[operation(bios) == WRITE]
    reads = bios[(operation(bios) == READ) & (bios["n"] > 0)]
    runs = {int(bio["d"]): int(bio["flags"]) for bio in bios}
    recorded = Counter(pages["d"].tolist())
    unequal = sum(runs.get(number, 0) != recorded[number] for number in runs.keys() | recorded.keys())
    yield from _in_sequence(known, "bio", "bio")
    yield from _differ("bios with other runs of pages than they say", unequal, 0)
    written = int(pages["n"][np.isin(pages["d"], writes["d"])].sum())
    expected = int((-(-writes["n"].astype(np.int64) // _PAGE_SECTORS)).sum())
    yield from _differ("pages of writes", written, expected)
    yield from _differ("reads without pages", int((reads["flags"] == 0).sum()), 0)


def _of_several_pages(known: KnownSequence) -> Iterator[str]:
    if not (known.records("pages", known.disk)["n"] > 1).any():
        yield "no bio with more than one page"


def _pages(known: KnownSequence) -> Iterator[str]:
    pages, bios = known.records("pages", known.disk), known.records("bio", known.disk)
    written = np.isin(pages["d"], bios["d"][operation(bios) == WRITE])
    pages = pages[written & (pages["flags"] == OWNERS.index("file"))]
    for file in known.files:
        if not file.is_directory:
            number = int(pages["n"][pages["a"] == file.inode].sum())
            yield from _differ(f"pages of {file.name}", number, file.pages)


def _syncs(known: KnownSequence) -> Iterator[str]:
    """Check each file's syncs by caller, flags and result, and the total of the filesystem."""
    syncs = known.records("sync", known.filesystem)
    caller = syncs["flags"] >> 4
    for file in known.files:
        for way, number in file.syncs.items():
            of_file = syncs[(syncs["a"] == file.inode) & (caller == CALLERS.index(way))]
            good = (of_file["flags"] & 1) == (way != "fsync")
            good &= ((of_file["flags"] & 2) != 0) == file.is_directory
            good &= of_file["n"] == 0
            yield from _differ(f"syncs of {file.name} by {way}", int(good.sum()), number)
    yield from _differ("syncs in all", syncs.size, sum(sum(file.syncs.values()) for file in known.files))


def _names(known: KnownSequence) -> Iterator[str]:
    """Check the names, which are recorded at a file's first sync."""
    rows = known.records("name", known.filesystem)
    text = np.ascontiguousarray(rows).view(np.uint8).reshape(-1, rows.dtype.itemsize)[:, 40:64]
    names = {int(row["a"]): bytes(name).rstrip(b"\0").decode() for row, name in zip(rows, text, strict=True)}
    for file in known.files:
        if any(file.syncs.values()) and not file.is_directory and names.get(file.inode) != file.name:
            yield f"the name of {file.name} is {names.get(file.inode)!r}"


def _data_waits(known: KnownSequence) -> Iterator[str]:
    """Check for a data wait in each sync of a file; directories may have none."""
    inodes = known.records("data_wait", known.filesystem)["a"]
    for file in known.files:
        if not file.is_directory:
            number = int((inodes == file.inode).sum())
            yield from _differ(f"waits for the data of {file.name}", number, sum(file.syncs.values()))


def _waits(known: KnownSequence) -> Iterator[str]:
    if not any(known.records(name, known.filesystem).size for name in ("commit_wait", "node_wait")):
        yield "no wait for a journal, log or nodes"


def _as_counted(known: KnownSequence) -> Iterator[str]:
    """Compare commits and checkpoints with the filesystem's counters of the same name."""
    for name, number in known.counted.items():
        yield from _differ(f"records of type {name}", known.records(name, known.filesystem).size, number)
        if not number:
            yield f"no {name}"


def _flushes(known: KnownSequence) -> Iterator[str]:
    if not known.records("flush", known.filesystem).size:
        yield "no record of type flush"


def _off_cpu(known: KnownSequence) -> Iterator[str]:
    """Check that the driver's thread waited at least once per sync."""
    comms, least = known.records("comm"), sum(file.syncs["kernel"] for file in known.files)
    drivers = comms["tid"][comms["a"] == int.from_bytes(b"driver", "little")]
    off = known.records("off_cpu")
    waited = int(np.isin(off["tid"], drivers).sum()) if drivers.size else off.size
    if waited < least:
        yield f"the driver waited {waited} times, at least {least} expected"


def _written_back(known: KnownSequence, dev: int) -> Iterator[str]:
    least = sum(file.pages for file in known.files if not any(file.syncs.values()))
    pages = int(known.records("writeback", dev)["n"].astype(np.int32).sum())
    if pages < least:
        yield f"{pages} pages were written back, at least {least} expected"


def _bios_as_commands(known: KnownSequence) -> Iterator[str]:
    """Check that all sectors submitted by a filesystem reach the device."""
    of_bios, of_commands = (
        int(rows["n"][operation(rows) == WRITE].sum())
        for rows in (known.records("bio", known.disk), known.records("block", known.disk))
    )
    yield from _differ("bio: sectors of writes", of_bios, of_commands)


def _empty_flushes(known: KnownSequence) -> Iterator[str]:
    """Compare the filesystem's flush records with its bios without sectors."""
    bios, flushes = known.records("bio", known.disk), known.records("flush", known.filesystem)
    empty = int(((bios["n"] == 0) & (bios["b"] & PREFLUSH != 0)).sum())
    yield from _differ("flush: empty flushes", flushes.size, empty)
