"""A recorded run of several databases: whose bytes are whose, and what of its records could not be so."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import edited
import polars as pl
import pytest
from edited import table

from analysis import audit, checks, pipeline, stages
from analysis.schemas import documents
from base.errors import FileError
from model import userfile

Spoil = Callable[[Path], None]


@pytest.fixture
def copy(copy_run: Callable[[str], Path]) -> Path:
    return copy_run("sample-databases")


def told(folder: Path) -> list[str]:
    run = stages.build(folder)
    return checks.reasons(run) + audit.reasons(run)


def test_a_recorded_run_is_accepted_and_says_whose_each_byte_is(copy: Path) -> None:
    pipeline.analyse(copy)
    summary = json.loads((copy / "summary.json").read_text())
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    manifest = json.loads((copy / "manifest.json").read_text())
    documents.check("manifest", manifest)
    assert [one["transactions"] for one in manifest["sqlite"]["databases"]] == [30, 30, 30]
    # all of what SQLite wrote is confirmed: each page by the frames of its own database
    label, by_label = pl.col("label").cast(pl.String), summary["content"]["by_label"]
    for name in ("database page", "WAL"):
        assert by_label[name]["silent"] == by_label[name]["contradicted"] == 0
    pieces, vfs = (pl.read_parquet(copy / f"tables/{name}.parquet") for name in ("pieces", "vfs"))
    own = vfs.select(vfs_call="call", database="database", made="transaction")
    written = pieces.join(own, on="vfs_call").filter(label.is_in(["database page", "WAL"]))
    assert written.group_by("database").agg(pl.col("bytes").sum()).height == 3
    # a page's frame is its transaction's, which is of that database
    cell = json.loads((copy / "cell.json").read_text())
    parts = userfile.parts(cell["profiles"]["file"]).transactions
    of_wal = written.filter((label == "WAL") & pl.col("made").is_not_null())
    assert all(parts[made].database + 1 == one for made, one in of_wal.select("made", "database").iter_rows())
    # and what a checkpoint wrote home of it is that transaction's content
    deferred = pl.read_parquet(copy / "tables/deferred.parquet").select("command", "transaction")
    home = written.filter(label == "database page").join(deferred, on="command")
    assert home.height > 50
    assert all(
        parts[whose].database + 1 == one for whose, one in home.select("transaction", "database").iter_rows()
    )


def config(change: Callable[[dict[str, Any]], None], *names: str) -> Spoil:
    """Change config.json, of the run and of its twin."""

    def spoil(folder: Path) -> None:
        for name in names or ("raw", "twin/raw"):
            edited.change(folder / name / "driver/config.json", change)

    return spoil


def of_second(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda found: found["databases"][1].update(values)


def calls(change: Callable[[dict[str, Any]], None]) -> Spoil:
    """Change each call."""
    return lambda folder: table(folder / "raw/driver/vfs.csv", lambda rows: [change(row) for row in rows])


def exchanged(call: dict[str, Any]) -> None:
    call["database"] = {1: 2, 2: 1}.get(call["database"], call["database"])


def one_of_another(call: dict[str, Any]) -> None:
    """A write of a frame in a transaction is another database's."""
    if call["call"] == 200:
        call["database"] = call["database"] % 3 + 1


def homes_exchanged(call: dict[str, Any]) -> None:
    if (call["op"], call["file"]) == ("write", "database"):
        exchanged(call)


def logs_exchanged(call: dict[str, Any]) -> None:
    """Which WAL is whose is told by the opening alone where nothing else is looked at."""
    if (call["op"], call["file"]) == ("open", "wal"):
        exchanged(call)


def paths_exchanged(found: dict[str, Any]) -> None:
    one, other = found["databases"][:2]
    one["path"], other["path"] = other["path"], one["path"]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            calls(logs_exchanged),
            "vfs.csv: call 9 is for the wal of database 2, but the file was database 1's",
        ),
        (
            config(paths_exchanged),
            r"config\.json: path of database 1 is /mnt/target/db/sample-2\.db, expected ",
        ),
        (calls(one_of_another), "vfs.csv: 1 calls of a file of another database than their transaction"),
        (
            calls(homes_exchanged),
            "pages that a checkpoint wrote without a frame|logged pages that no checkpoint",
        ),
        (
            config(of_second(effective={"synchronous": "off"})),
            "SQLite synchronous: requested 'full', in effect 'full in database 1, off in database 2, full in",
        ),
        (config(of_second(changes=5), "twin/raw"), "the baseline run differs from the run in databases"),
        (
            config(lambda found: found["file_sizes"].update(database=4096)),
            "counters of SQLite: database: 4096, and its databases make",
        ),
        (
            config(lambda found: found["databases"].pop()),
            "vfs.csv: line 2: database is 3; expected 1 to 2, or nothing",
        ),
    ],
)
def test_what_cannot_be_so_is_told(copy: Path, spoil: Spoil, reason: str) -> None:
    spoil(copy)
    try:
        found = told(copy)
    except FileError as error:
        found = [str(error)]
    assert [one for one in found if re.search(reason, one)], found
