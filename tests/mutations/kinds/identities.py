"""Who and what: threads, inodes, commits, owners of pages, results."""

from __future__ import annotations

import numpy as np
from forged import Absent, Forged

from analysis.adapters.proberecords import OWNERS
from kinds import kind, pairs, some

FILE, DEVICE, MOVED = OWNERS.index("file"), OWNERS.index("device"), OWNERS.index("moved")
OTHER = OWNERS.index("other")


def _exchange(rows: np.ndarray, field: str, one: np.ndarray, other: np.ndarray) -> None:
    kept = rows[field][one].copy()
    rows[field][one] = rows[field][other]
    rows[field][other] = kept


def _pages(run: Forged, owner: int) -> np.ndarray:
    places = run.of("pages")
    return places[run.records["flags"][places] == owner]


def _inodes(run: Forged, draw: np.random.Generator) -> tuple[int, int]:
    """Two inodes of files that were written."""
    found = np.unique(run.records["a"][_pages(run, FILE)])
    if found.size < 2:
        raise Absent("two files")
    one, other = draw.choice(found, 2, replace=False).tolist()
    return one, other


def _renamed(rows: np.ndarray, field: str, places: np.ndarray, one: int, other: int) -> None:
    value = rows[field][places]
    rows[field][places] = np.where(value == one, other, np.where(value == other, one, value))


@kind
def waits_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring transactions exchange the commits they waited for"""
    _exchange(run.records, "a", *pairs(draw, run.of("commit_wait")))


@kind
def commits_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring commits exchange their numbers"""
    _exchange(run.records, "a", *pairs(draw, run.of("commit")))


@kind
def commits_and_waits_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring commits exchange their numbers, and who waited for them"""
    one, other = pairs(draw, run.of("commit"))
    waits = run.of("commit_wait")
    for a, b in zip(run.records["a"][one].tolist(), run.records["a"][other].tolist(), strict=True):
        _renamed(run.records, "a", np.r_[waits, one, other], a, b)


@kind
def commits_of_other_length(run: Forged, draw: np.random.Generator) -> None:
    """commits say that they logged another number of blocks"""
    places = some(draw, run.of("commit"))
    run.records["n"][places] += np.uint32(draw.integers(1, 8))


@kind
def commits_merged(run: Forged, draw: np.random.Generator) -> None:
    """two commits are one, and the later ones are numbered anew in commits and waits"""
    commits, waits = run.of("commit"), run.of("commit_wait")
    gone = int(draw.integers(0, commits.size - 1))
    tid = int(run.records["a"][commits[gone]])
    run.records["begin_ns"][commits[gone + 1]] = run.records["begin_ns"][commits[gone]]
    run.records["n"][commits[gone + 1]] += run.records["n"][commits[gone]]
    for places in (commits, waits):
        later = places[run.records["a"][places] > tid]
        run.records["a"][later] -= 1
    run.records = np.delete(run.records, commits[gone])


@kind
def pages_of_another_file(run: Forged, draw: np.random.Generator) -> None:
    """two files exchange their inodes in the pages' records"""
    _renamed(run.records, "a", _pages(run, FILE), *_inodes(run, draw))


@kind
def files_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """two files exchange their inodes in every record of the probes"""
    one, other = _inodes(run, draw)
    places = [_pages(run, FILE)]
    for name in ("sync", "data_wait", "node_wait", "name"):
        try:
            places.append(run.of(name))
        except Absent:
            continue
    _renamed(run.records, "a", np.concatenate(places), one, other)


@kind
def database_is_shm(run: Forged, draw: np.random.Generator) -> None:
    """pages of the database get the inode of the shm or another file that SQLite opened"""
    calls = run.calls
    inode = {row[0]: row[1] for row in calls.select("file", "inode").unique().iter_rows() if row[1]}
    if "database" not in inode or not (others := {"shm", "other"} & inode.keys()):
        raise Absent("shm")
    _renamed(run.records, "a", _pages(run, FILE), inode["database"], inode[min(others)])


@kind
def indexes_shifted(run: Forged, draw: np.random.Generator) -> None:
    """pages of a file say that they are another page of it"""
    places = some(draw, _pages(run, FILE))
    run.records["b"][places] += np.uint64(draw.integers(1, 1000))


@kind
def indexes_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """pages of a file exchange their places in it"""
    places = _pages(run, FILE)
    inode = draw.choice(np.unique(run.records["a"][places]))
    _exchange(run.records, "b", *pairs(draw, places[run.records["a"][places] == inode]))


@kind
def file_is_device(run: Forged, draw: np.random.Generator) -> None:
    """pages of files are called pages of the block device, each at its own place"""
    _to_device(run, some(draw, _pages(run, FILE)))


@kind
def last_is_device(run: Forged, draw: np.random.Generator) -> None:
    """the last pages of files are called pages of the block device"""
    places = _pages(run, FILE)
    _to_device(run, places[-max(1, int(places.size * draw.uniform(0.02, 0.5))) :])


def _to_device(run: Forged, places: np.ndarray) -> None:
    bios = run.of("bio")
    sector = dict(zip(run.records["d"][bios].tolist(), run.records["a"][bios].tolist(), strict=True))
    for place in places.tolist():
        row = run.records[place]
        run.records[place]["a"] = row["dev"]
        run.records[place]["b"] = sector[int(row["d"])] // 8
        run.records[place]["flags"] = DEVICE


@kind
def device_is_file(run: Forged, draw: np.random.Generator) -> None:
    """pages of the block device, or of the filesystem's own inodes, are called a file's"""
    own = np.r_[_pages(run, DEVICE), _pages(run, OTHER)]
    places, inode = some(draw, own), int(draw.choice(np.unique(run.records["a"][_pages(run, FILE)])))
    run.records["flags"][places], run.records["a"][places] = FILE, inode


@kind
def of_another_home(run: Forged, draw: np.random.Generator) -> None:
    """pages of the block device say that their home is another one's"""
    _exchange(run.records, "b", *pairs(draw, _pages(run, DEVICE)))


@kind
def own_inode_is_another(run: Forged, draw: np.random.Generator) -> None:
    """pages of the filesystem's own inodes get another inode"""
    places = some(draw, _pages(run, OTHER))
    run.records["a"][places] = draw.choice([1, 2, 3, 11, 9999])


@kind
def pages_of_none(run: Forged, draw: np.random.Generator) -> None:
    """pages say that they belong to no mapping"""
    places = some(draw, run.of("pages"))
    run.records["flags"][places] = OWNERS.index("none")


@kind
def pages_of_a_directory(run: Forged, draw: np.random.Generator) -> None:
    """pages of files are called a directory's"""
    run.records["flags"][some(draw, _pages(run, FILE))] = OWNERS.index("directory")


@kind
def all_moved(run: Forged, draw: np.random.Generator) -> None:
    """all pages of files are marked as moved by garbage collection"""
    run.records["flags"][_pages(run, FILE)] = MOVED


@kind
def moved_without_call(run: Forged, draw: np.random.Generator) -> None:
    """pages are marked as moved, and the xWrite of each is gone from vfs.csv"""
    places = some(draw, _pages(run, FILE))
    run.records["flags"][places] = MOVED
    pages = {(int(r["a"]), int(r["b"]) + i) for r in run.records[places] for i in range(int(r["n"]))}
    keep = [
        not (op == "write" and (inode, (offset or 0) // 4096) in pages)
        for op, inode, offset in run.calls.select("op", "inode", "offset").iter_rows()
    ]
    run.calls = run.calls.filter(keep).drop("call").with_row_index("call")


@kind
def journal_thread_is_driver(run: Forged, draw: np.random.Generator) -> None:
    """bios of the journal's thread are given to the driver's, by the block tracer too"""
    tids = np.unique(run.records["tid"][run.of("commit")])
    places = run.of("bio")
    _given(run, some(draw, places[np.isin(run.records["tid"][places], tids)]), run.driver())


@kind
def driver_is_journal_thread(run: Forged, draw: np.random.Generator) -> None:
    """bios of the driver's thread are given to the journal's, by the block tracer too"""
    journal = int(run.records["tid"][run.of("commit")][0])
    places = run.of("bio")
    _given(run, some(draw, places[run.records["tid"][places] == run.driver()]), journal)


@kind
def driver_is_flusher(run: Forged, draw: np.random.Generator) -> None:
    """bios of the driver's thread are given to a flusher's, by the block tracer too"""
    flusher = int(run.records["tid"][run.of("writeback")][0])
    places = run.of("bio")
    _given(run, some(draw, places[run.records["tid"][places] == run.driver()]), flusher)


@kind
def flusher_is_driver(run: Forged, draw: np.random.Generator) -> None:
    """bios of other threads than the driver's and the journal's are given to the driver's"""
    places = run.of("bio")
    own = [run.driver(), *np.unique(run.records["tid"][run.records["type"] == 8]).tolist()]
    _given(run, some(draw, places[~np.isin(run.records["tid"][places], own)]), run.driver())


def _given(run: Forged, bios: np.ndarray, tid: int) -> None:
    """Give bios to a thread: in their records, their pages', and what the block tracer saw queued."""
    rows, pages = run.records[bios], run.of("pages")
    run.records["tid"][bios] = tid
    run.records["tid"][pages[np.isin(run.records["d"][pages], rows["d"])]] = tid
    if not run.has_trace:
        return
    traced = run.trace.records
    for time, sector in zip(rows["begin_ns"].tolist(), rows["a"].tolist(), strict=True):
        near = (traced["sector"] == sector) & (abs(traced["time"].astype(np.int64) - time) < 3000)
        traced["pid"][near] = tid


@kind
def commits_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """commits are said to be of a flusher's thread"""
    run.records["tid"][some(draw, run.of("commit"))] = run.records["tid"][run.of("writeback")][0]


@kind
def waits_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """waits for commits are said to be of another thread"""
    run.records["tid"][some(draw, run.of("commit_wait"))] = 1


@kind
def syncs_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """syncs are said to be of another thread"""
    run.records["tid"][some(draw, run.of("sync"))] = 1


@kind
def syncs_of_another_file(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring syncs exchange their files"""
    _exchange(run.records, "a", *pairs(draw, run.of("sync")))


@kind
def syncs_of_the_kernel(run: Forged, draw: np.random.Generator) -> None:
    """syncs are said to be called by the kernel"""
    run.records["flags"][some(draw, run.of("sync"))] &= 0xF


@kind
def syncs_failed(run: Forged, draw: np.random.Generator) -> None:
    """syncs return -EIO"""
    run.records["n"][some(draw, run.of("sync"))] = 2**32 - 5


@kind
def checkpoints_for_another_reason(run: Forged, draw: np.random.Generator) -> None:
    """checkpoints have another reason"""
    run.records["a"][some(draw, run.of("checkpoint"))] = draw.choice([1, 2, 8, 16])


@kind
def off_cpu_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """the times off the CPU are said to be of another thread"""
    run.records["tid"][some(draw, run.of("off_cpu"))] = 1


@kind
def names_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """inodes exchange their names"""
    _exchange(run.records, "a", *pairs(draw, run.of("name")))


@kind
def bios_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring bios exchange their pages"""
    bios, pages = run.of("bio"), run.of("pages")
    carrying = bios[(run.records["n"][bios] == 8) & (run.records["flags"][bios] == 1)]
    one, other = pairs(draw, carrying)
    for a, b in zip(run.records["d"][one].tolist(), run.records["d"][other].tolist(), strict=True):
        _renamed(run.records, "d", pages, a, b)
