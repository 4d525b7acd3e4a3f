"""What was written: owners, inodes and places of the pages of bios."""

from __future__ import annotations

import numpy as np
from forged import Forged
from rows import exchange, pages_of, renamed
from side import Absent

from analysis.adapters.proberecords import OWNERS
from kinds import kind, pairs, some

FILE, DEVICE, MOVED = OWNERS.index("file"), OWNERS.index("device"), OWNERS.index("moved")
OTHER = OWNERS.index("other")


def _inodes(run: Forged, draw: np.random.Generator) -> tuple[int, int]:
    """Two inodes of files that were written."""
    found = np.unique(run.records["a"][pages_of(run, FILE)])
    if found.size < 2:
        raise Absent("two files")
    one, other = draw.choice(found, 2, replace=False).tolist()
    return one, other


@kind
def pages_of_another_file(run: Forged, draw: np.random.Generator) -> None:
    """two files exchange their inodes in the pages' records"""
    renamed(run.records, "a", pages_of(run, FILE), *_inodes(run, draw))


@kind
def files_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """two files exchange their inodes in every record of the probes"""
    one, other = _inodes(run, draw)
    places = [pages_of(run, FILE)]
    for name in ("sync", "data_wait", "node_wait", "name"):
        try:
            places.append(run.of(name))
        except Absent:
            continue
    renamed(run.records, "a", np.concatenate(places), one, other)


@kind
def database_is_shm(run: Forged, draw: np.random.Generator) -> None:
    """pages of the database get the inode of the shm or another file that SQLite opened"""
    calls = run.calls
    inode = {row[0]: row[1] for row in calls.select("file", "inode").unique().iter_rows() if row[1]}
    if "database" not in inode or not (others := {"shm", "other"} & inode.keys()):
        raise Absent("shm")
    renamed(run.records, "a", pages_of(run, FILE), inode["database"], inode[min(others)])


@kind
def indexes_shifted(run: Forged, draw: np.random.Generator) -> None:
    """pages of a file say that they are another page of it"""
    places = some(draw, pages_of(run, FILE))
    run.records["b"][places] += np.uint64(draw.integers(1, 1000))


@kind
def indexes_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """pages of a file exchange their places in it"""
    places = pages_of(run, FILE)
    inode = draw.choice(np.unique(run.records["a"][places]))
    exchange(run.records, "b", *pairs(draw, places[run.records["a"][places] == inode]))


@kind
def file_is_device(run: Forged, draw: np.random.Generator) -> None:
    """pages of files are called pages of the block device, each at its own place"""
    _to_device(run, some(draw, pages_of(run, FILE)))


@kind
def last_is_device(run: Forged, draw: np.random.Generator) -> None:
    """the last pages of files are called pages of the block device"""
    places = pages_of(run, FILE)
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
    own = np.r_[pages_of(run, DEVICE), pages_of(run, OTHER)]
    places, inode = some(draw, own), int(draw.choice(np.unique(run.records["a"][pages_of(run, FILE)])))
    run.records["flags"][places], run.records["a"][places] = FILE, inode


@kind
def of_another_home(run: Forged, draw: np.random.Generator) -> None:
    """pages of the block device say that their home is another one's"""
    exchange(run.records, "b", *pairs(draw, pages_of(run, DEVICE)))


@kind
def own_inode_is_another(run: Forged, draw: np.random.Generator) -> None:
    """pages of the filesystem's own inodes get another inode"""
    places = some(draw, pages_of(run, OTHER))
    run.records["a"][places] = draw.choice([1, 2, 3, 11, 9999])


@kind
def pages_of_none(run: Forged, draw: np.random.Generator) -> None:
    """pages say that they belong to no mapping"""
    places = some(draw, run.of("pages"))
    run.records["flags"][places] = OWNERS.index("none")


@kind
def pages_of_a_directory(run: Forged, draw: np.random.Generator) -> None:
    """pages of files are called a directory's"""
    run.records["flags"][some(draw, pages_of(run, FILE))] = OWNERS.index("directory")


@kind
def all_moved(run: Forged, draw: np.random.Generator) -> None:
    """all pages of files are marked as moved by garbage collection"""
    run.records["flags"][pages_of(run, FILE)] = MOVED


@kind
def moved_without_call(run: Forged, draw: np.random.Generator) -> None:
    """pages are marked as moved, and the xWrite of each is gone from vfs.csv"""
    places = some(draw, pages_of(run, FILE))
    run.records["flags"][places] = MOVED
    pages = {(int(r["a"]), int(r["b"]) + i) for r in run.records[places] for i in range(int(r["n"]))}
    keep = [
        not (op == "write" and (inode, (offset or 0) // 4096) in pages)
        for op, inode, offset in run.calls.select("op", "inode", "offset").iter_rows()
    ]
    run.calls = run.calls.filter(keep).drop("call").with_row_index("call")


@kind
def names_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """inodes exchange their names"""
    exchange(run.records, "a", *pairs(draw, run.of("name")))


@kind
def bios_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring bios exchange their pages"""
    bios, pages = run.of("bio"), run.of("pages")
    carrying = bios[(run.records["n"][bios] == 8) & (run.records["flags"][bios] == 1)]
    one, other = pairs(draw, carrying)
    for a, b in zip(run.records["d"][one].tolist(), run.records["d"][other].tolist(), strict=True):
        renamed(run.records, "d", pages, a, b)
