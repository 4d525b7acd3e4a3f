"""Read a recorded run's files, change them and write them back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import zstandard

from analysis.adapters import device_logs, proberecords
from analysis.observers import content
from base import raw_files

LOG_HEADER = 32  # bytes of device.bin before its entries


class AbsentError(Exception):
    """The recorded run has nothing that this fault could change."""


class Recording:
    """A copy of a recorded run.

    `hashed` is whether the files are hashed after the fault. A fault of an instrument comes before the
    host stores the files with their hashes, damage to the stored files after it.
    """

    def __init__(self, folder: Path, others: list[Path]) -> None:
        self.folder, self.raw, self.others = folder, folder / "raw", others
        self.hashed = True

    @cached_property
    def records(self) -> np.ndarray:
        """The records of probes.bin, without the first and the last (attached, detached)."""
        data = (self.raw / "probes.bin").read_bytes()[proberecords.HEADER.itemsize :]
        return np.frombuffer(data, proberecords.RECORD)[1:-1].copy()

    def places(self, name: str) -> np.ndarray:
        """Return the indices of the records of a type."""
        return np.flatnonzero(self.records["type"] == proberecords.TYPES[name])

    def file_pages(self) -> np.ndarray:
        """Return the indices of the records of files' pages."""
        pages = self.places("pages")
        return pages[self.records["flags"][pages] == proberecords.OWNERS.index("file")]

    def change_table(self, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Change a table of the driver's."""
        path = self.raw / "driver" / name
        change(pl.read_csv(path, infer_schema_length=None)).write_csv(path)

    def change_log(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        """Change the entries of the device's log."""
        path = self.raw / "device.bin"
        head, data = path.read_bytes()[:LOG_HEADER], path.read_bytes()[LOG_HEADER:]
        entries = change(np.frombuffer(data, device_logs.ENTRY).copy())
        path.write_bytes(head[:16] + len(entries).to_bytes(8, "little") + head[24:] + entries.tobytes())

    def change_content(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        """Change the records of content.zst. The data of a record that is removed goes with it."""
        path = self.raw / "content.zst"
        data = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
        header = np.frombuffer(data, content.HEADER, 1).copy()
        count, first = int(header["records"][0]), content.HEADER.itemsize
        records = change(np.frombuffer(data, content.RECORD, count, first).copy())
        area = data[first + count * content.RECORD.itemsize :]
        has_data = records["begin"] != content.NOT_KEPT
        sizes = np.where(has_data, records["bytes"], 0).astype(np.uint64)
        begins = zip(records["begin"][has_data].tolist(), sizes[has_data].tolist(), strict=True)
        data = b"".join(area[begin : begin + size] for begin, size in begins)
        records["begin"] = np.where(has_data, np.cumsum(sizes) - sizes, np.uint64(content.NOT_KEPT))
        records["serial"] = np.arange(records.size)
        header["records"], header["data_bytes"] = records.size, len(data)
        path.write_bytes(zstandard.ZstdCompressor().compress(header.tobytes() + records.tobytes() + data))

    def change_document(self, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change a JSON document of raw/."""
        document = json.loads((self.raw / name).read_text())
        change(document)
        (self.raw / name).write_text(json.dumps(document))

    def files(self) -> list[str]:
        """Return the names of the files of raw/ that are not empty."""
        paths = sorted(path for path in self.raw.rglob("*") if path.is_file() and path.stat().st_size)
        return [str(path.relative_to(self.raw)) for path in paths]

    def replace_by(self, other: Path) -> None:
        """Put another run's raw files in place, with the plan of this one."""
        plan = (self.raw / "plan.json").read_bytes()
        for part in ("raw", "twin"):
            shutil.rmtree(self.folder / part)
            shutil.copytree(other / part, self.folder / part)
        (self.raw / "plan.json").write_bytes(plan)

    def write(self) -> None:
        """Write the records, and the hashes of all files."""
        if "records" in self.__dict__:
            path = self.raw / "probes.bin"
            data, size = path.read_bytes(), proberecords.RECORD.itemsize
            first = proberecords.HEADER.itemsize + size
            path.write_bytes(data[:first] + self.records.tobytes() + data[-size:])
        if self.hashed:
            path = self.folder / "host.json"
            host = json.loads(path.read_text())
            path.write_text(json.dumps(host | {"raw_sha256": raw_files.hashes(self.folder)}))
