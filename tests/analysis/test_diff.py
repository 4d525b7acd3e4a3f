"""Two runs side by side: what is said of them, what is refused, and what is marked."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import markup
import polars as pl
import pytest
import tiny
from edited import edit

from analysis import diff
from analysis.diff import comparison_files, comparison_text
from analysis.diff.comparison_files import main, typical
from analysis.run_files import derived
from base.errors import FileError

MS = 1_000_000


def costs(**values: float) -> list[dict[str, Any]]:
    """Two inserts that cost `values` each, and an update that costs nothing."""
    inserts = [tiny.cost(number, "insert", **values) for number in (0, 1)]
    return [*inserts, tiny.cost(2, "update", latency_ns=MS)]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A DELETE run and a WAL run of the same statements."""
    heavy = {"syncs": 4, "flushes": 3.1, "fua": 2, "writes": 9, "latency_ns": 12 * MS}
    heavy |= {"bytes": 60000, "filesystem journal": 40000, "rollback journal": 20000}
    light = {"syncs": 1, "flushes": 1, "fua": 2, "writes": 2, "latency_ns": 3 * MS}
    light |= {"bytes": 24000, "filesystem journal": 18500, "WAL": 5500}
    return (
        tiny.make(tmp_path / "a" / "run", "delete", costs=costs(**heavy)),
        tiny.make(tmp_path / "b" / "run", "wal", costs=costs(**light), virtual_seconds=0.001),
    )


def analysed(run: Path, name: str, **values: Any) -> None:
    """Edit a document as an analysis would."""
    edit(run / name, **values)
    derived.write(run)


def test_words(pair: tuple[Path, Path]) -> None:
    found = diff.compare(*pair)
    assert found.names == ("DELETE", "WAL")
    insert, update, whole = comparison_text.sentences(found)
    assert insert == (
        "WAL saves 3.0 syncs, 2.1 flushes, 21 KiB of filesystem journal and 20 KiB of rollback journal, "
        "but adds 5.4 KiB of WAL per insert; an insert takes 9 ms less (−75 %)."
    )
    assert update == "WAL and DELETE ask the same of the device per update; the time is the same."
    assert "the run takes 1 ms less (−50 %)" in whole


def test_numbers(pair: tuple[Path, Path]) -> None:
    found = diff.compare(*pair)
    assert found.means["insert"]["flushes"] == (3.1, 1)
    assert found.means["update"]["latency_ns"] == (MS, MS)
    # the window's, from the ledger itself: five writes, one flush, one FUA
    whole = found.means[diff.WHOLE]
    assert [whole[name][0] for name in ("syncs", "writes", "flushes", "fua")] == [1, 5, 1, 1]
    assert (whole["bytes"][0], whole["WAL"][0]) == (32768, 12288)
    assert whole["latency_ns"] == (2e6, 1e6)
    assert found.pairs.select("op", "nth", "transaction_a", "transaction_b").rows() == [
        ("insert", 0, 0, 0),
        ("insert", 1, 1, 1),
        ("update", 0, 2, 2),
    ]
    assert found.unpaired == 0


def test_times_are_those_that_nobody_watched(pair: tuple[Path, Path]) -> None:
    latencies = pl.DataFrame({"op": ["insert", "insert", "update"], "latency_ns": [1, 3, 5]})
    latencies.write_parquet(pair[0] / "tables/latencies.parquet")
    derived.write(pair[0])
    assert diff.compare(*pair).means["insert"]["latency_ns"] == (2, 3 * MS)
    latencies[:2].write_parquet(pair[0] / "tables/latencies.parquet")
    derived.write(pair[0])
    with pytest.raises(FileError, match=r"latencies\.parquet: not the transactions"):
        diff.compare(*pair)


def test_a_pair_is_shown_command_by_command(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines that differ in numbers alone are of one kind; a line that one run lacks stands alone."""
    ledger = pair[1] / "tables/ledger.parquet"
    table = pl.read_parquet(ledger)
    moved = table.with_columns(pl.col("sector") + 8, bytes=pl.col("bytes") * 2)
    no_flush = pl.when(pl.col("command") == 3).then(None).otherwise(pl.col("transaction"))
    moved.with_columns(transaction=no_flush).write_parquet(ledger)
    derived.write(pair[1])
    insert, update = typical(diff.compare(*pair))
    assert (insert.op, insert.transactions) == ("insert", (0, 0)) and update.transactions == (2, 2)
    texts = [[line.node.text if line else None for line in row] for row in insert.rows]
    assert ["WS WAL at 800", "WS WAL at 808"] in texts
    assert [row for row in texts if None in row] == [["FF flush (waited, driver)", None]]
    main(*map(str, pair))
    page = Path(capsys.readouterr().out.rsplit("report: ")[1].strip())
    links = re.findall(r'href="([^"#]+report.html)"', page.read_text())
    assert [(page.parent / link).resolve() for link in links] == [run / "report.html" for run in pair]
    assert page.read_text().count('class="one"') == 1
    assert markup.lacks(page.read_text()) == []


REFUSALS = {
    "clock": ("summary.json", {"clock": "real"}, "different clocks (virtual and real)"),
    "sql": (
        "summary.json",
        {"sql_sha256": "6" * 64},
        "different rendered transactions (555555555555 and 666666666666)",
    ),
    "n": ("cell.json", {"n": 3}, "N is 2 and 3"),
    "rejected": ("summary.json", {"status": "rejected", "reasons": ["lost"]}, "run was rejected (lost)"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "names",
    [("f2fs WAL " * 15, "ext4 " * 200), ("20261129T021221Z-5368838", "c" * 300), ("a\x1b", "b\x07" * 20)],
)
def test_the_figure_has_room_beside_long_names(
    names: tuple[str, str], pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """Matplotlib warns of axes without a width."""
    comparison_files.draw(replace(diff.compare(*pair), names=names), tmp_path / "x.svg")
    # a control character would make it no XML
    ElementTree.parse(tmp_path / "x.svg")
    assert ">insert, a<" in (tmp_path / "x.svg").read_text()


def test_the_figure_has_plain_numbers_and_the_interval_of_each_mean(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    found = diff.compare(*pair)
    latencies = {"latency_ns_a": [90.0, 400.0, 120.0], "latency_ns_b": [190.0, 600.0, 130.0]}
    changed = [pl.Series(name, values) * MS for name, values in latencies.items()]
    comparison_files.draw(replace(found, pairs=found.pairs.with_columns(changed)), tmp_path / "x.svg")
    texts = re.findall(r">([^<>]+)</text>", (tmp_path / "x.svg").read_text())
    assert "100" in texts and not [text for text in texts if "e+" in text]
    # Student's t of two pairs
    assert {"insert: +150.000 ± 635.310", "update: +10.000"} <= {*texts}


@pytest.mark.parametrize(("name", "values", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_refused_unless_forced(
    name: str, values: Any, reason: str, pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    analysed(pair[1], name, **values)
    with pytest.raises(FileError) as error:
        main(*map(str, pair))
    said = str(error.value)
    assert reason in said and said.endswith("; expected comparable runs; FORCE=1 compares anyway")
    assert len(said.splitlines()) == 1
    assert not list(pair[0].parent.parent.glob("diffs*"))
    main(*map(str, pair), force=True)
    shown = capsys.readouterr().out
    assert f"NOT COMPARABLE, forced: {reason}" in " ".join(shown.split())
    text = Path(shown.rsplit("report: ")[1].strip()).read_text()
    assert "Not comparable: forced" in text
    assert reason in text


def test_durability_is_marked(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    main(*map(str, pair))
    shown = capsys.readouterr().out
    differs = "DURABILITY DIFFERS: after a crash of the system or a power failure: DELETE: consistent, "
    words = comparison_text.table(diff.compare(*pair)).split("per insert  ")[0]
    assert differs in " ".join(words.split()) and words.count("consistent, but") == 1
    # after the folders of the runs
    assert max(map(len, words.splitlines()[2:])) <= 80
    assert "They do not survive the same failures" in Path(shown.rsplit("report: ")[1].strip()).read_text()
    main(str(pair[1]), str(pair[1]))
    shown = capsys.readouterr().out
    assert "DURABILITY" not in shown
    assert "do not survive" not in Path(shown.rsplit("report: ")[1].strip()).read_text()


def test_page_stands_alone_and_escapes(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    hostile = '<img src=x onerror="alert(1)">\x1b[31m'
    analysed(pair[1], "cell.json", mode=hostile)
    main(*map(str, pair))
    shown = capsys.readouterr().out
    path = Path(shown.rsplit("report: ")[1].strip())
    text = path.read_text()
    assert "<img" not in text.lower()
    assert "\x1b" not in text + shown
    assert not [
        word
        for word in ("http://", "https://", "<script", "<link")
        if word in text.replace("http://www.w3.org", "")
    ]
    assert json.loads((path.parent / "diff.json").read_text())["means"]["insert"]["syncs"] == [4, 1]
    assert pl.read_csv(path.parent / "transactions.csv").height == 3


@pytest.mark.parametrize("missing", ["cell.json", "tables/pieces.parquet"])
def test_missing_file_is_named(missing: str, pair: tuple[Path, Path]) -> None:
    (pair[1] / missing).unlink()
    with pytest.raises(FileError, match=missing):
        main(*map(str, pair))
