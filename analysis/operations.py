"""The operations of a transaction."""

from __future__ import annotations

from typing import NamedTuple


class Transaction(NamedTuple):
    """What a transaction does."""

    operations: tuple[str, ...]  # insert, update, delete, read; of SQL also create and drop
    batch: bool  # they are all or none; else it is one operation, by itself
    values: int = 0  # bytes of the column values that they carry; a key to find or to make a row by is none
