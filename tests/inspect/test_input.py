"""A run with damaged tables is refused in one line and leaves no page; columns are packed without loss."""

import base64
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import synthetic_ledger

from analysis.inspect import write
from analysis.inspect.pack import pack
from analysis.run_files import derived
from base.errors import FileError


def change(name: str, how: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], None]:
    """Return what changes a table of a run."""

    def spoil(run: Path) -> None:
        path = run / "tables" / f"{name}.parquet"
        how(pl.read_parquet(path)).write_parquet(path)
        derived.write(run)

    return spoil


def truncate(run: Path) -> None:
    path = run / "tables/ledger.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    derived.write(run)


def of_before(run: Path) -> None:
    """As an analysis left it that had other names."""
    change("ledger", lambda table: table.rename({"commit": "jbd2"}))(run)


SPOILED = {
    "make analyse RUN=": of_before,
    "no column kind": change("ledger", lambda table: table.drop("kind")),
    "column begin_ns: is String; expected Int64": change(
        "vfs", lambda table: table.with_columns(pl.lit("soon").alias("begin_ns"))
    ),
    "column sync: 9999 is not in syncs": change(
        "ledger", lambda t: t.with_columns(pl.lit(9999).alias("sync"))
    ),
    "column command: rows are not numbered from 0": change("ledger", lambda table: table.reverse()),
    "ledger.parquet": truncate,
}


@pytest.mark.parametrize("wrong", SPOILED)
def test_bad_input_gets_one_line(tmp_path: Path, wrong: str) -> None:
    run = synthetic_ledger.make(tmp_path / "run", n=2)
    SPOILED[wrong](run)
    with pytest.raises(FileError) as error:
        write.of_run(str(run))
    assert wrong in str(error.value) and "\n" not in str(error.value)
    assert not list(run.glob("*inspect*"))


def test_no_such_run(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="none: no such folder"):
        write.of_run(str(tmp_path / "none"))


def test_packs_columns_narrow_and_exact() -> None:
    table = pl.DataFrame(
        {"near": [5, 6, 300], "far": [2**40, -1, 7], "text": ["a", None, "a\x1b"], "part": [0.5, 1.0, 0.25]}
    )
    spec, packed = pack(table, ("near",))
    assert {name: column["type"] for name, column in spec["columns"].items()} == {
        "near": "u2",
        "far": "f8",
        "text": "u1",
        "part": "f8",
    }
    assert spec["columns"]["text"]["texts"] == ["a", None, "a\ufffd"]
    data = zlib.decompress(base64.b64decode(packed))
    at = spec["columns"]["near"]["at"]
    assert data[at : at + 6] == b"\x05\x00\x01\x00\x26\x01"
