"""Pack table columns for the inspect page: typed arrays in the narrowest type, deflated, in base64.

`delta` stores the differences of successive values, which are small where the values are sorted. None is -1:
no number here is below 0. Text is a list of distinct values and a number for each row.
"""

import base64
import zlib
from typing import Any

import numpy as np
import polars as pl

from analysis.figures import style

_TYPES = ("u1", "i1", "u2", "i2", "u4", "i4")
_TEXT = (pl.String, pl.Enum, pl.Categorical)
_ALIGNED = 8


def pack(table: pl.DataFrame, deltas: tuple[str, ...] = ()) -> tuple[dict[str, Any], str]:
    """Return ({rows, columns: {name: {type, at, delta?, texts?}}}, base64 of the deflated bytes)."""
    parts: list[bytes] = []
    at = 0
    columns: dict[str, Any] = {}
    for name in table.columns:
        spec: dict[str, Any] = {}
        values = table[name]
        if values.dtype in _TEXT:
            values, spec["texts"] = _texts(values.cast(pl.String))
        numbers = values.cast(pl.Float64).fill_null(-1).to_numpy()
        if name in deltas:
            spec["delta"] = True
            numbers = np.diff(numbers, prepend=0.0)
        stored = _narrow(numbers)
        spec |= {"type": stored.dtype.str[1:], "at": at}
        columns[name] = spec
        data = stored.tobytes()
        data += bytes(-len(data) % _ALIGNED)
        parts.append(data)
        at += len(data)
    packed = base64.b64encode(zlib.compress(b"".join(parts), 6)).decode("ascii")
    return {"rows": table.height, "columns": columns}, packed


def _texts(values: pl.Series) -> tuple[pl.Series, list[str | None]]:
    """Return the number of each row's text, and the texts; control characters made harmless."""
    distinct = values.unique(maintain_order=True).to_list()
    numbers = {text: number for number, text in enumerate(distinct)}
    coded = pl.Series([numbers[text] for text in values.to_list()], dtype=pl.Int64)
    return coded, [None if text is None else style.clean(text) for text in distinct]


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Return whole numbers in the narrowest little-endian type that holds them, others as f8."""
    if numbers.size == 0:
        return numbers.astype("<u1")
    if np.array_equal(numbers, np.rint(numbers)):
        low, high = numbers.min(), numbers.max()
        for name in _TYPES:
            limits = np.iinfo(name)
            if limits.min <= low and high <= limits.max:
                return numbers.astype(f"<{name}")
    return numbers.astype("<f8")
