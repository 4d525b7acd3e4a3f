"""Writes records as the probes do, by hand: small traces whose ledger is known.

Times are made up, and in microseconds here; nothing is a measurement.
"""

from typing import Any

import numpy as np
import polars as pl

from analysis.adapters.layouts import Layout
from analysis.adapters.proberecords import CHUNK, RECORD, TYPES, split
from analysis.ledger import build, records
from analysis.schemas.ledger import LABELS, VFS

DEV = 253 << 20
DRIVER, JBD2, FLUSHER = 77, 50, 30
SYNC, META, FUA, PREFLUSH = 1 << 11, 1 << 12, 1 << 17, 1 << 18
READ, WRITE, FLUSH = 0, 1, 2
FILE, DIRECTORY, DEVICE, OTHER, NONE, MOVED = range(6)
PLACE = {label: place for place, label in enumerate(LABELS)}
# in blocks: superblock and descriptors, bitmaps, inode tables, a directory, data, the journal
BLOCKS = {0: "bitmap/SIT/NAT/superblock", 20: "inode/node", 100: "directory", 101: None}
JOURNAL = 1000
EXT4 = Layout(
    "ext4",
    np.array([0, 20, 100, 101, JOURNAL, 2000]) * 8,
    np.array(
        [
            *(PLACE["bitmap/SIT/NAT/superblock"], PLACE["inode/node"], PLACE["directory"], -1),
            *(PLACE["filesystem journal"], -1),
        ]
    ),
)
F2FS = Layout(
    "f2fs",
    np.array([0, 10, 20, 100]) * 8,
    np.array(
        [
            *(PLACE["bitmap/SIT/NAT/superblock"], PLACE["checkpoint pack"]),
            *(PLACE["bitmap/SIT/NAT/superblock"], -1),
        ]
    ),
)


class Trace:
    """Collects records, SQLite's calls and transactions."""

    def __init__(self, layout: Layout = EXT4) -> None:
        self.layout = layout
        self.rows: list[tuple[Any, ...]] = []
        self.calls: list[tuple[Any, ...]] = []
        self.transactions: list[tuple[str, int, int]] = []
        self.bios = self.commands = 0
        self.add("comm", 0, n=DRIVER, words=("driver", ""))
        self.add("comm", 0, n=JBD2, words=("jbd2/vdb", "-8"))

    def add(
        self, name: str, begin: int, end: int | None = None, words: tuple[Any, ...] = (), **fields: int
    ) -> None:
        """Add a record; `words` are a.. in order, a text being 8 bytes."""
        values = [
            int.from_bytes(word.encode().ljust(8, b"\0"), "little") if isinstance(word, str) else word
            for word in (*words, *[0] * (4 - len(words)))
        ]
        self.rows.append(
            (
                begin * 1000,
                (begin if end is None else end) * 1000,
                TYPES[name],
                *(fields.get("flags", 0), fields.get("tid", DRIVER), fields.get("dev", DEV)),
                fields.get("n", 0),
                *values,
            )
        )

    def bio(
        self,
        time: int,
        block: int,
        pages: list[tuple[int, int, int, int]],
        flags: int = WRITE | SYNC,
        tid: int = DRIVER,
        sectors: int | None = None,
    ) -> None:
        """Queue a bio at `block`; pages are (owner, inode, first page, pages)."""
        count = 8 * sum(run[3] for run in pages) if sectors is None else sectors
        serial, self.bios = self.bios, self.bios + 1
        self.add("bio", time, words=(block * 8, flags, 0, serial), tid=tid, n=count, flags=len(pages))
        for owner, inode, index, number in pages:
            self.add("pages", time, words=(inode, index, 0, serial), tid=tid, n=number, flags=owner)

    def command(
        self, queued: int, issue: int, complete: int, sector: int, sectors: int, flags: int = WRITE | SYNC
    ) -> None:
        """Issue and complete a block command."""
        serial, self.commands = self.commands, self.commands + 1
        words = (sector, flags, queued * 1000, serial)
        self.add("block", issue, complete, words=words, n=sectors, tid=9)

    def flush(self, queued: int, issue: int, complete: int) -> None:
        """Issue and complete a flush command."""
        self.command(queued, issue, complete, 0, 0, FLUSH | PREFLUSH)

    def call(
        self,
        op: str,
        file: str,
        begin: int,
        end: int,
        inode: int = 0,
        offset: Any = None,
        size: Any = None,
        page: int | None = None,
    ) -> int:
        """Add a call of SQLite's; its number."""
        self.calls.append((len(self.calls), op, file, begin * 1000, end * 1000, inode, offset, size, page))
        return len(self.calls) - 1

    def transaction(self, op: str, begin: int, end: int) -> int:
        """Add a transaction; its number."""
        self.transactions.append((op, begin * 1000, end * 1000))
        return len(self.transactions) - 1

    def input(self, end: int) -> build.Input:
        """Return all of it; the workload's one phase ends at `end`, `close` 1 ms later, and `drain` 2."""
        names = [name for name in VFS if name not in ("transaction", "database")]
        calls = pl.DataFrame(
            self.calls, schema={name: VFS[name] for name in names}, orient="row", strict=False
        )
        transactions = pl.DataFrame(
            [(i, op, op, begin, done) for i, (op, begin, done) in enumerate(self.transactions)],
            schema={
                **{"transaction": pl.Int64, "phase": pl.String, "op": pl.String},
                **{"begin_ns": pl.Int64, "end_ns": pl.Int64},
            },
            orient="row",
        )
        phases = pl.DataFrame(
            {
                "phase": ["insert", "close", "drain"],
                "begin_ns": [0, end * 1000, end * 1000 + 10**6],
                "end_ns": [end * 1000, end * 1000 + 10**6, end * 1000 + 2 * 10**6],
                "transactions": [transactions.height, 0, 0],
            }
        )
        return build.Input(
            *(self.records(), DEV, self.layout, calls, transactions, phases),
            *((0, end * 1000 + 2 * 10**6), "sample.db", True),
            jobs={"engine": "engine job"},
        )

    def array(self) -> np.ndarray:
        """Return the records as they are written; a block record when it completes."""
        made = np.array(self.rows, RECORD)
        return made[np.argsort(np.where(made["type"] == 6, made["begin_ns"], made["end_ns"]), kind="stable")]

    def records(self) -> records.Records:
        rows = self.array()
        return records.Records(lambda: (split(rows[at : at + CHUNK]) for at in range(0, rows.size, CHUNK)))
