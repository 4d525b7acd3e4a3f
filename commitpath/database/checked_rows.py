"""Remember in the cache which rows of results databases were valid: later commands check only others.

A check takes about 2 ms a row, most of it for the documents' schemas, and a comparison reads every run.
"""

import contextlib
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base import scratch
from base.paths import CACHE, EXPERIMENTS, ROOT
from commitpath.host import places

# Bytes of a row's hash.
SIZE = 16


@functools.cache
def _file() -> Path:
    """Return the file of the present rules: hashes of valid rows, one after the other.

    The rules are what decides whether a row is valid; each change of them begins a file of its own.
    """
    sources = (
        Path(__file__).with_name("row_checks.py"),
        *(ROOT / "analysis/schema.yml", EXPERIMENTS / "schema.yml"),
        *(ROOT / "analysis/schemas").glob("*.py"),
        *(ROOT / "base").glob("*.py"),
        *(ROOT / "model").rglob("*.py"),
        *EXPERIMENTS.glob("engine/*.yml"),
    )
    rules = hashlib.sha256()
    for path in sorted(sources):
        rules.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return CACHE / f"checked-rows-{rules.hexdigest()[:12]}"


def row_hash(table: str, row: Mapping[str, Any]) -> bytes:
    """Return the hash of a row's values, with their types."""
    made = hashlib.blake2b(table.encode(), digest_size=SIZE)
    for value in row.values():
        # not repr() of a text, which takes ten times as long
        text = f"\0text {value}" if isinstance(value, str) else f"\0{value!r}"
        made.update(text.encode("utf-8", "surrogateescape"))
    return made.digest()


def valid() -> set[bytes]:
    """Return the hashes of rows that were valid; none if the file cannot be read."""
    try:
        hashes = _file().read_bytes()
    except OSError:
        return set()
    return {hashes[at : at + SIZE] for at in range(0, len(hashes) - SIZE + 1, SIZE)}


def remember(hashes: set[bytes]) -> None:
    """Add the hashes of valid rows, if there is a cache to write to: without it they are checked again."""
    if hashes and (CACHE / places.TAG).is_file():
        with contextlib.suppress(OSError), scratch.whole(_file()) as part:
            part.write_bytes(b"".join(valid() | hashes))
