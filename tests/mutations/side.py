"""What a run and its untraced twin have alike: the driver's tables, the device's log, texts, documents.

What a kind has touched is read once and written once: `side.calls` is vfs.csv, and so on.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import devicelog, drivertables
from analysis.files import read_csv

TABLES = {
    "transactions": drivertables.TRANSACTIONS,
    "phases": drivertables.PHASES,
    "stat": drivertables.STAT,
    "calls": drivertables.CALLS,
}
FILES = {"transactions": "transactions", "phases": "phases", "stat": "device_stat", "calls": "vfs"}
LOG_HEADER = 32  # bytes of device.bin's header (docs/formats.md)


class Absent(Exception):
    """The sample has nothing that this kind could spoil."""


class Side:
    """raw/ of a run, or of its untraced twin."""

    def __init__(self, raw: Path) -> None:
        self.raw = raw

    def _table(self, name: str) -> pl.DataFrame:
        path = self.raw / "driver" / f"{FILES[name]}.csv"
        if not path.exists():
            raise Absent(path.name)
        noted = path.read_text().partition("\n")[0].split(",")
        # what a later driver notes beside
        more = {column: pl.Int64 for column in noted if column not in TABLES[name]}
        return read_csv(path, {**TABLES[name], **more}, optional=("offset", "bytes", *more))

    @cached_property
    def transactions(self) -> pl.DataFrame:
        return self._table("transactions")

    @cached_property
    def phases(self) -> pl.DataFrame:
        return self._table("phases")

    @cached_property
    def stat(self) -> pl.DataFrame:
        return self._table("stat")

    @cached_property
    def calls(self) -> pl.DataFrame:
        return self._table("calls")

    @cached_property
    def log(self) -> np.ndarray:
        """The entries of device.bin (devicelog.ENTRY)."""
        path = self.raw / "device.bin"
        if not path.exists():
            raise Absent(path.name)
        return np.frombuffer(path.read_bytes()[LOG_HEADER:], devicelog.ENTRY).copy()

    @property
    def has_log(self) -> bool:
        return (self.raw / "device.bin").exists()

    @property
    def window(self) -> tuple[int, int]:
        times = dict(self.stat.select("label", "time_ns").iter_rows())
        return times["begin"], times["end"]

    def count(self, field: str, more: int, time: int) -> None:
        """Let a counter of /sys/block/<dev>/stat have grown by `more` at a time."""
        later = pl.col("time_ns") >= time
        self.stat = self.stat.with_columns(pl.when(later).then(pl.col(field) + more).otherwise(field))

    def text(self, name: str) -> str:
        if not (self.raw / name).exists():
            raise Absent(name)
        return (self.raw / name).read_text()

    def replace(self, name: str, old: str, new: str, count: int = 0) -> None:
        """Replace a pattern in a text of raw/. Raises Absent where it is not there."""
        text, number = re.subn(old, new, self.text(name), count=count, flags=re.M)
        if not number:
            raise Absent(f"{name}: {old}")
        (self.raw / name).write_text(text)

    def document(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text(name))
        return found

    def put(self, name: str, document: dict[str, Any]) -> None:
        (self.raw / name).write_text(json.dumps(document))

    def write(self) -> None:
        """Write back what was read."""
        touched = self.__dict__
        for name in TABLES:
            if name in touched:
                touched[name].write_csv(self.raw / "driver" / f"{FILES[name]}.csv")
        if "log" in touched:
            path = self.raw / "device.bin"
            head = bytearray(path.read_bytes()[:LOG_HEADER])
            head[16:24] = int(self.log.size).to_bytes(8, "little")
            path.write_bytes(bytes(head) + self.log.tobytes())
            if "log_entries" in self.text("board/device_time.txt"):
                self.replace("board/device_time.txt", r"^log_entries=.*", f"log_entries={self.log.size}")
