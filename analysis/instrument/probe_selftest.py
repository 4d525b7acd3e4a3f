"""What the probes recorded of a known sequence of writes and syncs, compared with what it was.

playbooks/board/known-sequence.sh runs it. A probe that is attached need not see all: on another
kernel one was, and lost thousands of records. So before anything is believed of a kernel, each
record's type is counted there. On a partition beside others that is done with each run, whose raw/known/
it is: others of its disk write and flush meanwhile, so flushes are bracketed (checks/disk.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis.adapters.known import FLUSH, PREFLUSH, WRITE, Known, operation
from analysis.adapters.proberecords import CALLERS, OWNERS

_PAGE_SECTORS = 8


def wrong(
    known: Known, probes: Sequence[str], own: str, journals_data: bool = False, journalled: bool = True
) -> list[str]:
    """Return what these probes did not record as it was, a line each; own: the filesystem's probe.

    journals_data: the pages of files are written to a journal first, as pages of nobody's, and on some
    kernels one by one. journalled: a sync may wait for a journal, a log or nodes, which are counted.
    """
    checks: dict[str, Sequence[Callable[[Known], list[str]]]] = {
        "block": (_commands,),
        "bio": (_bios, *(() if journals_data else (_pages, _of_several_pages))),
        own: (_syncs, _names, _data_waits, *((_waits, _as_counted) if journalled else ())),
        "flush": (_some("flush"),) if known.cached else (),
        "wait": (_off_cpu,),
        "writeback": (_written_back,),
    }
    found = [f"{lost} records were lost: {why}" for lost, why in zip(known.lost, _LOST, strict=True) if lost]
    for name in probes:
        found += [f"{name}: {line}" for check in checks.get(name, ()) for line in check(known)]
    if {"block", "bio"} <= set(probes):
        found += _bios_as_commands(known)
    if {"bio", "flush"} <= set(probes) and known.cached:
        found += _empty_flushes(known)
    return found


_LOST = ("the ring was full", "what had begun was not seen to end")


def _differ(what: str, recorded: int, was: int) -> list[str]:
    return [] if recorded == was else [f"{what}: {recorded} recorded, {was} expected"]


def _commands(known: Known) -> list[str]:
    """As the kernel's own counters have them."""
    commands = known.of("block", known.disk)
    writes, flushes = commands[operation(commands) == WRITE], commands[operation(commands) == FLUSH]
    found = _differ("sectors written", int(writes["n"].sum()), known.stat["write_sectors"])
    if known.flushes is None:
        found += _differ("flushes", flushes.size, known.stat["flush_ios"])
    elif not known.flushes[1] <= known.flushes[0] <= known.flushes[2]:
        counted, least, most = known.flushes
        found.append(f"flushes: {least} to {most} recorded, {counted} expected")
    return [
        *found,
        *_in_sequence(known, "block", "command"),
        *([] if flushes.size or not known.cached else ["no flushes"]),
        *([] if writes.size else ["no writes"]),
    ]


def _in_sequence(known: Known, name: str, what: str) -> list[str]:
    """All that are numbered from the device's first to its last have a record; others' are between."""
    own, every = known.of(name, known.disk)["d"], known.of(name)["d"]
    if not own.size:
        return []
    between = int(np.count_nonzero((every >= own.min()) & (every <= own.max())))
    return _differ(f"numbers between the first and the last {what}", between, int(own.max() - own.min()) + 1)


def _bios(known: Known) -> list[str]:
    """Each with as many runs of pages as it says, and all pages of each write. A log may be written by
    sectors: its last page then is there in part."""
    bios, pages = known.of("bio", known.disk), known.of("pages", known.disk)
    writes = bios[operation(bios) == WRITE]
    runs = {int(bio["d"]): int(bio["flags"]) for bio in bios}
    numbers, had = np.unique(pages["d"], return_counts=True)
    of_pages = dict(zip(numbers.tolist(), had.tolist(), strict=True))
    return [
        *_in_sequence(known, "bio", "bio"),
        *_differ("bios with other runs of pages than they say", _unequal(runs, of_pages), 0),
        *_differ(
            "pages of writes",
            int(pages["n"].sum()),
            int((-(-writes["n"].astype(np.int64) // _PAGE_SECTORS)).sum()),
        ),
    ]


def _of_several_pages(known: Known) -> list[str]:
    """The probe goes from page to page in some bio."""
    return [] if (known.of("pages", known.disk)["n"] > 1).any() else ["no bio with more than one page"]


def _unequal(one: dict[int, int], other: dict[int, int]) -> int:
    return sum(one.get(key, 0) != other.get(key, 0) for key in one.keys() | other.keys())


def _pages(known: Known) -> list[str]:
    pages = known.of("pages", known.disk)
    pages = pages[pages["flags"] == OWNERS.index("file")]
    return [
        line
        for file in known.files
        if not file.is_directory
        for line in _differ(
            f"pages of {file.name}", int(pages["n"][pages["a"] == file.inode].sum()), file.pages
        )
    ]


def _syncs(known: Known) -> list[str]:
    """Of each file, by each way, with its flags and result; and no other of the filesystem."""
    syncs = known.of("sync", known.filesystem)
    caller, found = syncs["flags"] >> 4, []
    for file in known.files:
        for way, number in file.syncs.items():
            of_file = syncs[(syncs["a"] == file.inode) & (caller == CALLERS.index(way))]
            good = (of_file["flags"] & 1) == (way != "fsync")
            good &= ((of_file["flags"] & 2) != 0) == file.is_directory
            good &= of_file["n"] == 0
            found += _differ(f"syncs of {file.name} by {way}", int(good.sum()), number)
    number = sum(sum(file.syncs.values()) for file in known.files)
    return [*found, *_differ("syncs in all", syncs.size, number)]


def _names(known: Known) -> list[str]:
    """A file's name is written the first time that it is synced."""
    rows = known.of("name", known.filesystem)
    text = np.ascontiguousarray(rows).view(np.uint8).reshape(-1, rows.dtype.itemsize)[:, 40:64]
    names = {int(row["a"]): bytes(one).rstrip(b"\0").decode() for row, one in zip(rows, text, strict=True)}
    return [
        f"the name of {file.name} is {names.get(file.inode)!r}"
        for file in known.files
        if any(file.syncs.values()) and not file.is_directory and names.get(file.inode) != file.name
    ]


def _data_waits(known: Known) -> list[str]:
    """One within each sync of a file; of a directory some filesystems have none."""
    waits = known.of("data_wait", known.filesystem)
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


def _waits(known: Known) -> list[str]:
    """Of a sync for its journal, log or nodes: each filesystem has some."""
    kinds = ("commit_wait", "node_wait")
    seen = any(known.of(name, known.filesystem).size for name in kinds)
    return [] if seen else ["no wait for a journal, log or nodes"]


def _as_counted(known: Known) -> list[str]:
    """Commits, checkpoints: as the filesystem counts them, which is how it is named."""
    return [
        line
        for name, number in known.counted.items()
        for line in [
            *_differ(f"records of type {name}", known.of(name, known.filesystem).size, number),
            *([] if number else [f"no {name}"]),
        ]
    ]


def _some(name: str) -> Callable[[Known], list[str]]:
    return lambda known: [] if known.of(name, known.filesystem).size else [f"no record of type {name}"]


def _off_cpu(known: Known) -> list[str]:
    """The driver's thread waited for each of its writes at least."""
    comms, least = known.of("comm"), sum(file.syncs["kernel"] for file in known.files)
    drivers = comms["tid"][comms["a"] == int.from_bytes(b"driver", "little")]
    off = known.of("off_cpu")
    waited = int(np.isin(off["tid"], drivers).sum()) if drivers.size else off.size
    return [] if waited >= least else [f"the driver waited {waited} times, at least {least} expected"]


def _written_back(known: Known) -> list[str]:
    least = sum(file.pages for file in known.files if not any(file.syncs.values()))
    pages = int(known.of("writeback", known.disk)["n"].astype(np.int32).sum())
    return [] if pages >= least else [f"{pages} pages were written back, at least {least} expected"]


def _bios_as_commands(known: Known) -> list[str]:
    """All sectors that a filesystem hands in reach the device."""
    bios, commands = known.of("bio", known.disk), known.of("block", known.disk)
    sectors = [int(rows["n"][operation(rows) == WRITE].sum()) for rows in (bios, commands)]
    return [f"bio: {line}" for line in _differ("sectors of writes", sectors[0], sectors[1])]


def _empty_flushes(known: Known) -> list[str]:
    """A filesystem orders a flush of its own by a bio with no sectors."""
    bios = known.of("bio", known.disk)
    empty = bios[(bios["n"] == 0) & (bios["b"] & PREFLUSH != 0)]
    own = known.of("flush", known.filesystem)
    return [f"flush: {line}" for line in _differ("empty flushes", own.size, empty.size)]
