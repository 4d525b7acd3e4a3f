"""A recorded run that somebody forges: its raw files as arrays and tables, written back as a careful
forger would, with the hashes of host.json made anew.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zstandard
from side import Absent, Side

from analysis import stored_files
from analysis.adapters import blkrecords, proberecords
from analysis.observers import content
from base import identity


class Trace(NamedTuple):
    """The block tracer's file: a record and its payload each."""

    records: np.ndarray  # blkrecords.RECORD
    payloads: list[bytes]

    def kept(self, which: np.ndarray) -> Trace:
        """Only the records of which `which` says so."""
        return Trace(self.records[which], [p for p, keep in zip(self.payloads, which, strict=True) if keep])


class Kept(NamedTuple):
    """What was written to the device: a record and its data each, empty where it has none."""

    records: np.ndarray  # content.RECORD
    data: list[bytes]

    def kept(self, which: np.ndarray) -> Kept:
        """Only the records of which `which` says so."""
        return Kept(self.records[which], [d for d, keep in zip(self.data, which, strict=True) if keep])


class Forged(Side):
    """A run's folder, to be spoiled."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "raw")
        self.folder = folder

    @cached_property
    def twin(self) -> Side:
        if not (self.folder / "twin/raw").is_dir():
            raise Absent("twin")
        return Side(self.folder / "twin/raw")

    @cached_property
    def records(self) -> np.ndarray:
        """The records of probes.bin (proberecords.RECORD), in their order."""
        data = (self.raw / "probes.bin").read_bytes()
        return np.frombuffer(data[proberecords.HEADER.itemsize :], proberecords.RECORD).copy()

    def of(self, name: str) -> np.ndarray:
        """Places of a type's records. Raises Absent where there is none."""
        found = np.flatnonzero(self.records["type"] == proberecords.TYPES[name])
        if not found.size:
            raise Absent(name)
        return found

    @property
    def _traced(self) -> Path:
        paths = sorted(self.raw.glob("blktrace/*.blktrace.*"))
        if not paths:
            raise Absent("blktrace")
        return paths[0]

    @property
    def has_trace(self) -> bool:
        return any(self.raw.glob("blktrace/*.blktrace.*"))

    @cached_property
    def trace(self) -> Trace:
        records, payloads = [], []
        for chunk in blkrecords.chunks(self._traced):
            records.append(chunk.records.copy())
            data = chunk.data.tobytes()
            begins = chunk.payloads
            ends = begins + chunk.records["pdu_len"]
            payloads += [data[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
        return Trace(np.concatenate(records), payloads)

    @property
    def has_content(self) -> bool:
        return (self.raw / "content.zst").exists()

    @cached_property
    def content(self) -> Kept:
        if not self.has_content:
            raise Absent("content.zst")
        with (self.raw / "content.zst").open("rb") as file:
            data = zstandard.ZstdDecompressor(max_window_size=content.WINDOW_BYTES).stream_reader(file).read()
        header = np.frombuffer(data, content.HEADER, 1)[0]
        records = np.frombuffer(data, content.RECORD, int(header["records"]), content.HEADER.itemsize).copy()
        area = content.HEADER.itemsize + records.nbytes
        begins = [area if row["begin"] == content.NOT_KEPT else area + int(row["begin"]) for row in records]
        sizes = [0 if row["begin"] == content.NOT_KEPT else int(row["bytes"]) for row in records]
        return Kept(records, [data[a : a + size] for a, size in zip(begins, sizes, strict=True)])

    def _write_content(self) -> None:
        records, data = self.content
        sizes = np.array([len(part) for part in data], np.uint64)
        records["begin"] = np.where(sizes > 0, np.cumsum(sizes) - sizes, np.uint64(content.NOT_KEPT))
        records["serial"] = np.arange(records.size)
        writes = (records["flags"] & 0xFF == 1) & (records["bytes"] > 0)
        header = np.zeros(1, content.HEADER)
        header["magic"] = np.void(content.MAGIC)
        header["header_bytes"], header["record_bytes"] = content.HEADER.itemsize, content.RECORD.itemsize
        header["records"], header["data_bytes"] = records.size, int(sizes.sum())
        header["unkept"] = int((writes & (sizes == 0)).sum())
        packed = header.tobytes() + records.tobytes() + b"".join(data)
        (self.raw / "content.zst").write_bytes(zstandard.ZstdCompressor(3).compress(packed))

    def driver(self) -> int:
        """The thread that ran the transactions."""
        comm = self.records[self.of("comm")]
        named = comm["n"][comm["a"] == int.from_bytes(b"driver\0\0", "little")]
        return int(named[0])

    def claim(self, change: dict[str, Any]) -> None:
        """Say of the run that it is of another cell, in each document that names one."""
        cell = json.loads((self.folder / "cell.json").read_text())
        _merge(cell, change)
        if "at_default" in cell:
            cell["at_default"] = [axis for axis in cell["at_default"] if axis not in change]
        (self.folder / "cell.json").write_text(json.dumps(cell))
        host = self.folder / "host.json"
        if host.exists():
            host.write_text(json.dumps(json.loads(host.read_text()) | {"cell_id": identity.cell_id(cell)}))
        if (self.raw / "plan.json").exists():
            plan = self.document("plan.json")
            self.put(
                "plan.json",
                plan
                | {"cell": cell, "cell_id": identity.cell_id(cell), "cell_name": identity.cell_name(cell)},
            )

    def write(self) -> None:
        """Write back what was read, and the hashes of all."""
        super().write()
        touched = self.__dict__
        if "records" in touched:
            path = self.raw / "probes.bin"
            path.write_bytes(path.read_bytes()[: proberecords.HEADER.itemsize] + self.records.tobytes())
        if "trace" in touched:
            rows = [self.trace.records[i].tobytes() for i in range(self.trace.records.size)]
            data = b"".join(part for pair in zip(rows, self.trace.payloads, strict=True) for part in pair)
            self._traced.write_bytes(data)
            events = len(data) // blkrecords.RECORD.itemsize
            self.replace("blktrace/blktrace.out", r"[0-9]+ events", f"{events} events")
        if "content" in touched:
            self._write_content()
        if "twin" in touched:
            self.twin.write()
        host = self.folder / "host.json"
        if host.exists() and "raw_sha256" in (said := json.loads(host.read_text())):
            host.write_text(json.dumps(said | {"raw_sha256": stored_files.hashes(self.folder)}))


def _merge(into: dict[str, Any], change: dict[str, Any]) -> None:
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
