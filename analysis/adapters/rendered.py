"""Read raw/driver/rendered.gz: the SQL or key-value operations that the driver gave the engine."""

import functools
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from base.errors import FileError
from model.engines import Engine
from model.operations import Transaction

EXPECTED = "what the driver rendered, compressed by gzip"


@dataclass(frozen=True)
class Rendered:
    """SHA-256, size and transactions of rendered.gz; equal successive transactions are one entry."""

    sha256: str
    bytes: int
    transactions: tuple[tuple[Transaction, int], ...]  # (transaction, repetitions)

    @property
    def count(self) -> int:
        """The number of transactions."""
        return sum(number for _, number in self.transactions)

    @property
    def values(self) -> int:
        """The bytes of column values in all transactions."""
        return sum(transaction.values * number for transaction, number in self.transactions)


class _Hashed(io.RawIOBase):
    """A stream that hashes the bytes read from it."""

    def __init__(self, source: io.BufferedIOBase) -> None:
        self.source, self.digest, self.size = source, hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer; 0 at the end."""
        read = self.source.readinto(buffer)
        self.digest.update(buffer[:read])
        self.size += read
        return read


def read(path: Path, sql_bytes: int, engine: Engine, of_file: bool = False) -> Rendered:
    """Read the engine's input. Raises FileError, also if it is smaller than its column values.

    sql_bytes: bytes of column values, from config.json. of_file: the input is a user's SQL.
    """
    transactions = engine.transactions_of_file if of_file else engine.transactions
    if transactions is None:
        raise FileError(path, "", f"is a user's SQL, which {engine.TITLE} does not run", EXPECTED)
    try:
        packed = path.read_bytes()
        result = _unpacked(packed, transactions)
    except OSError as error:
        wrong = f"cannot be read ({error.strerror or error})"
    except (EOFError, zlib.error) as error:
        wrong = f"is not whole ({error})"
    except ValueError as error:
        raise FileError(path, str(error), f"is not a transaction of {engine.TITLE}", EXPECTED) from None
    else:
        # gzip accepts an empty file
        if packed and result.bytes >= sql_bytes:
            return result
        wrong = f"has fewer than the {sql_bytes} bytes of config.json's sql_bytes" if packed else "is empty"
    raise FileError(path, "", wrong, EXPECTED)


# a baseline run has the input of its run
@functools.lru_cache(maxsize=1)
def _unpacked(packed: bytes, transactions: Callable[[BinaryIO], Iterator[Transaction]]) -> Rendered:
    with gzip.open(io.BytesIO(packed)) as file:
        hashed = _Hashed(file)
        given = transactions(io.BufferedReader(hashed))
        result = tuple((item, sum(1 for _ in same)) for item, same in groupby(given))
    return Rendered(hashed.digest.hexdigest(), hashed.size, result)
