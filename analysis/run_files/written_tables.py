"""Write Polars tables as Parquet or CSV; a failed write is an OSError with the file's name."""

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
    with _named_error(path):
        table.write_parquet(path, compression=compression)


def csv(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV. Raises OSError."""
    with _named_error(path):
        table.write_csv(path)


@contextlib.contextmanager
def _named_error(path: Path) -> Iterator[None]:
    """Raise Polars' errors as an OSError with the file's name.

    Polars also raises a system error as ComputeError. An error without a number, as at the end of a Parquet
    file, becomes EIO with Polars' text.
    """
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        match = re.search(r"\(os error ([0-9]{1,4})\)", str(error))
        number = int(match[1]) if match else errno.EIO
        first, _, _ = str(error).partition("\n")
        why = "" if match else f" ({first})"
        raise OSError(number, os.strerror(number) + why, str(path)) from error
