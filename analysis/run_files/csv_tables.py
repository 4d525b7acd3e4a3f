"""Read CSV files strictly as Polars tables: a whole valid file, or an error with its line."""

import contextlib
import os
import string
from pathlib import Path
from typing import Any

import polars as pl

from analysis.run_files.reading import integer, read_text, shown
from base.errors import FileError
from base.raw_files import check_regular

# Bytes of a CSV field that all readers parse in the same way.
_PLAIN = (string.ascii_letters + string.digits + "-_./").encode()
_CHUNK = 1 << 20
Columns = dict[str, type[pl.DataType]]


def read_csv(path: Path, schema: Columns, optional: tuple[str, ...] = ()) -> pl.DataFrame:
    """Return the rows of a CSV file; its header must be exactly the keys of `schema`.

    Columns are pl.Int64 or pl.String; only those in `optional` may have empty fields (null).
    Raises FileError with the line of the error: files that Polars' fast reader rejects are parsed here.
    """
    names = list(schema)
    if columns(path) != names:
        raise FileError(path, "line 1", f"the header is {shown(_header(path))}", ",".join(names))
    with contextlib.suppress(pl.exceptions.PolarsError):
        if _is_plain(path, len(names)):
            table = pl.read_csv(path, schema=schema, quote_char=None, glob=False)
            if not any(table[name].null_count() for name in names if name not in optional):
                return table
    return _read_by_line(path, schema, optional)


def _is_plain(path: Path, width: int) -> bool:
    """Return whether Polars parses a CSV file as this module does.

    Polars also accepts ' 1' and '+1' as integers, and a truncated line as one with empty fields.
    """
    lines = commas = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            between = chunk.translate(None, _PLAIN)
            ends, separators = between.count(b"\n"), between.count(b",")
            if ends + separators != len(between):
                return False
            lines, commas = lines + ends, commas + separators
    return commas == lines * (width - 1)


def columns(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file. Raises FileError if it is truncated."""
    return _header(path).rstrip("\r").split(",")


def _header(path: Path) -> str:
    """Return the first line without reading the rest. Raises FileError if the file is truncated."""
    check_regular(path)
    with contextlib.suppress(OSError), path.open("rb") as file:
        first = file.readline()
        file.seek(-1, os.SEEK_END)
        if file.read(1) == b"\n":
            return first.rstrip(b"\n").decode("utf-8", errors="replace").rstrip("\r")
    return read_text(path)  # raises the error, unless the file is empty


def _read_by_line(path: Path, schema: Columns, optional: tuple[str, ...]) -> pl.DataFrame:
    """Parse a CSV file line by line, so that every error has a line number."""
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for number, line in enumerate(read_text(path).split("\n")[1:-1], 2):
        fields = line.rstrip("\r").split(",")
        if len(fields) != len(schema):
            raise FileError(path, f"line {number}", f"{len(fields)} fields", f"{len(schema)}")
        for name, field in zip(schema, fields, strict=True):
            if name in optional and not field:
                columns[name].append(None)
            elif schema[name] is pl.Int64:
                columns[name].append(integer(path, number, name, field))
            else:
                columns[name].append(field)
    return pl.DataFrame(columns, schema=schema)
