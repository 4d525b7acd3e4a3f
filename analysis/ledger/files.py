"""Look up which file (name, role, life of a reused inode) an inode was, and which call last wrote a page.

Inode numbers are reused: in DELETE mode each transaction's rollback journal is a new file, mostly with
the same number. So the latest record of the number counts: an `open` in vfs.csv, or the probes' `name`
record (the name at the inode's first sync). A check compares the two sources. Files of a command are
distinguished by the generations that probes record.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from analysis.adapters.proberecords import OWNERS, ByType
from analysis.ledger.records import Few
from analysis.schemas.ledger import FILES
from base.arrays import Ints, LastBefore, at, expand, ints
from model.engines import known_role

Role = Callable[[str], str] | None
PAGE, PAGE_SECTORS = 4096, 8
PAGE_BITS = 28  # bits of a page number in a key of inode and page: files up to 1 TiB


@dataclass(frozen=True)
class Named:
    """The `name` records: names of inodes at their first sync."""

    inode: Ints
    time: Ints
    names: list[str]
    kinds: Ints  # index in FILES, -1 for a name of no engine's file


def names(few: Few, databases: Collection[str], role: Role = None) -> Named:
    """Return the names, joined from their parts.

    databases: base names of the databases. role: maps a name to its role; None: the engines' roles.
    """
    parts = few["name"]
    first = np.flatnonzero(parts["n"] == 0)
    length = np.diff(np.r_[first, parts.size])
    pieces = np.stack([parts[field] for field in "bcd"], axis=1).view(np.dtype("S24"))[:, 0]
    distinct, place = np.unique(pieces[first], return_inverse=True)
    whole = [text.decode(errors="replace") for text in distinct.tolist()]
    texts = [whole[i] for i in place.tolist()]
    for row in np.flatnonzero(length > 1).tolist():  # longer than one record holds
        raw = b"".join(pieces[first[row] : first[row] + length[row]].tolist())
        texts[row] = raw.decode(errors="replace")
    roles = {text: role(text) if role else known_role(text, databases) for text in set(texts)}
    kinds = {text: -1 if role is None else FILES.index(role) for text, role in roles.items()}
    return Named(
        ints(parts["a"][first]),
        ints(parts["begin_ns"][first]),
        texts,
        ints([kinds[text] for text in texts]),
    )


def from_sync(named: Named, sync: np.ndarray) -> Named:
    """Return the names, each valid from the begin of the sync that recorded it."""
    began = LastBefore(ints(sync["a"]), ints(sync["begin_ns"])).event(named.inode, named.time)
    within = began >= 0
    time = named.time.copy()
    time[within] = ints(sync["begin_ns"])[began[within]]
    return replace(named, time=time)


def with_listed(
    named: Named, listed: Mapping[int, str], databases: Collection[str], role: Role = None
) -> Named:
    """Add the names, after the run, of inodes that were never synced."""
    more = {inode: name for inode, name in listed.items() if inode not in set(named.inode.tolist())}
    roles = [role(name) if role else known_role(name, databases) for name in more.values()]
    return Named(
        np.r_[named.inode, ints(list(more))],
        np.r_[named.time, np.zeros(len(more), np.int64)],
        [*named.names, *more.values()],
        np.r_[named.kinds, ints([-1 if role is None else FILES.index(role) for role in roles])],
    )


def pages(offset: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Return (row, page) for each page that the bytes [offset, offset + size) of each row touch."""
    first = offset // PAGE
    return expand(first, (offset + size - 1) // PAGE - first + 1)


class Inodes:
    """Roles of inodes over time, from the opens in vfs.csv and the names."""

    def __init__(self, vfs: pl.DataFrame, named: Named, nameless: str | None = None) -> None:
        """nameless: the role of an inode without any record; None: it has none."""
        opens = vfs.filter((pl.col("op") == "open") & (pl.col("inode") > 0))
        self._kinds = np.r_[
            ints(opens["file"].to_physical()), named.kinds, -1 if nameless is None else FILES.index(nameless)
        ]
        inode = np.r_[ints(opens["inode"]), named.inode]
        self._last = LastBefore(inode, np.r_[ints(opens["begin_ns"]), named.time])

    def kind(self, inode: Ints, time: Ints, rows: Ints | None = None) -> Ints:
        """Return the index in FILES of each inode at a time, -1 without a record.

        rows: indices in `time`; None: all in order.
        """
        kinds: Ints = self._kinds.take(self._last.event(inode, time, rows))
        return kinds


class Writers:
    """The last xWrite of each page up to a time, which only moves forward.

    A page without an xWrite has the last xTruncate that ends within it. The kernel zeroes and writes the
    rest of such a page, even if the size stays the same (truncate_setsize and the filesystems' code).
    SQLite ends each checkpoint this way, and its pages may be smaller than the kernel's.
    """

    def __init__(self, vfs: pl.DataFrame) -> None:
        self._vfs, self._begins, self._inodes = vfs, ints(vfs["begin_ns"]), ints(vfs["inode"])
        # row indices; checks/file_calls.py verifies that they equal `call`
        self._writes = ints(
            vfs.select((pl.col("op") == "write") & (pl.col("bytes") > 0)).to_series().arg_true()
        )
        self._done = 0
        self._key, self._time, self._call = (np.empty(0, np.int64) for _ in range(3))
        self._last = LastBefore(self._key, self._time)
        within = (pl.col("op") == "truncate") & (pl.col("offset") % PAGE > 0)
        self._ends = ints(vfs.select(within.fill_null(False)).to_series().arg_true())
        page = ints(vfs["offset"].gather(self._ends)) // PAGE
        key = (self._inodes.take(self._ends) << PAGE_BITS) | page
        self._last_end = LastBefore(key, self._begins.take(self._ends))

    def advance(self, oldest: int, newest: int) -> None:
        """Limit all further lookups to times from `oldest` to `newest`."""
        begun = np.searchsorted(self._begins, newest, side="right")
        upto = max(self._done, int(np.searchsorted(self._writes, begun)))
        call = self._writes[self._done : upto]
        offset, size = (ints(self._vfs[name].gather(call)) for name in ("offset", "bytes"))
        self._done = upto
        row, page = pages(offset, size)
        call = call.take(row)
        # of the earlier writes, only the last one of each page before `oldest` matters
        kept = np.sort(self._last.last_of_each(oldest))
        self._key = np.r_[self._key[kept], (self._inodes.take(call) << PAGE_BITS) | page]
        self._time = np.r_[self._time[kept], self._begins.take(call)]
        self._call = np.r_[self._call[kept], call]
        self._last = LastBefore(self._key, self._time)

    def last_calls(self, inode: Ints, page: Ints, time: Ints, rows: Ints | None = None) -> Ints:
        """Return the row in vfs.csv of the last xWrite of each page at or before each time, or -1.

        rows: as in Inodes.kind.
        """
        key = (inode << PAGE_BITS) | page
        written = at(self._call, self._last.event(key, time, rows))
        if not self._ends.size:
            return written
        return np.where(written < 0, at(self._ends, self._last_end.event(key, time, rows)), written)


Lives = Mapping[int, Ints]  # inode → when each file with that number was first seen
_OF_FILES = [OWNERS.index("file"), OWNERS.index("moved")]


def lives(chunks: Iterable[ByType], dev: int) -> Lives:
    """Return the lives of a device's inode numbers."""
    fields = {"pages": "c", "sync": "b"}  # of the generation
    seen = [_seen(chunk[name], field, dev) for chunk in chunks for name, field in fields.items()]
    if not seen:
        return {}
    first = (
        pl.concat(seen).group_by("inode", "generation").agg(pl.col("time_ns").min()).sort("inode", "time_ns")
    )
    return {
        int(str(inode)): ints(rows["time_ns"])
        for (inode,), rows in first.group_by("inode", maintain_order=True)
    }


def _seen(rows: np.ndarray, generation: str, dev: int) -> pl.DataFrame:
    own = rows["dev"] == dev
    if generation == "c":
        own &= np.isin(rows["flags"], _OF_FILES)
    columns = {"inode": "a", "generation": generation, "time_ns": "begin_ns"}
    return pl.DataFrame({name: ints(rows[field][own]) for name, field in columns.items()})


def life(of: Lives, inode: int, time_ns: int) -> int:
    """Return the index of the file that had the number then, from 0; 0 also before the first was seen."""
    times = of.get(inode)
    return 0 if times is None else max(int(np.searchsorted(times, time_ns, side="right")) - 1, 0)


def last_life(of: Lives, inode: int) -> int:
    """Return the index of the file that had the number last."""
    times = of.get(inode)
    return 0 if times is None else times.size - 1
