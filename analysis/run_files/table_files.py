"""Tables as files; what a disk refuses is an OSError that names the file."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import polars as pl


def parquet(table: pl.DataFrame, path: Path, compression: Literal["zstd", "lz4"] = "zstd") -> None:
    """Write a table as Parquet. Raises OSError."""
    with _told(path):
        table.write_parquet(path, compression=compression)


def csv(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV. Raises OSError."""
    with _told(path):
        table.write_csv(path)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Raise what the system said as it says it itself: Polars raises it as a ComputeError, too; and as an I/O
    error, with Polars' words, what it tells no number of, as of a Parquet file's end."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        told = re.search(r"\(os error ([0-9]{1,4})\)", str(error))
        number = int(told[1]) if told else errno.EIO
        first, _, _ = str(error).partition("\n")
        why = "" if told else f" ({first})"
        raise OSError(number, os.strerror(number) + why, str(path)) from error
