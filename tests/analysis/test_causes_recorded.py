"""What the recorded runs say of what is for no transaction, and of deferred content."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from analysis import pipeline
from analysis.checks import ledger_consistency as checks
from analysis.inspect.load import Loaded
from analysis.ledger import sums
from analysis.ledger.build import Ledger
from analysis.run import Run
from analysis.tree.printed_tree import Terminal, lines

# sample → percent of the bytes written, by reason
SHARES = {
    "sample-f2fs-wal": {"close": 18.017, "drain": 0.302},
    "sample-flash-wal": {"close": 11.443, "drain": 2.322},
    "../bench/sample": {"drain": 0.504},
}


@pytest.mark.parametrize("sample", SHARES)
def test_what_is_for_no_transaction_is_the_close_and_the_drain(
    sample: str, built_run: Callable[[str], Run]
) -> None:
    made = built_run(sample).ledger
    assert made is not None
    none, total = sums.no_transaction(made), made.pieces["bytes"].sum()
    percent = {reason: round(100 * size / total, 3) for reason, size in none["by"].items()}
    assert percent == dict.fromkeys(sums.WORDS, 0) | SHARES[sample]


@pytest.fixture(scope="module")
def made(built_run: Callable[[str], Run]) -> Ledger:
    made = built_run("sample-checkpoints").ledger
    assert made is not None
    assert checks.reasons(made) == []
    return made


def test_a_transaction_has_what_it_made_written_and_what_it_left(made: Ledger) -> None:
    late, total = sums.deferred(made), made.pieces["bytes"].sum()
    assert late is not None
    assert round(100 * late["by_transactions"] / total, 1) == 17.3
    assert round(100 * late["by"]["close"] / total, 1) == 2.3
    costs, none = made.costs, sums.no_transaction(made)["bytes"]
    whole = costs["bytes"] - costs["for_others"] + costs["deferred"]
    assert whole.min() >= 0
    left = none - sum(late["by"].values())
    assert whole.sum() + left == pytest.approx(total)


def test_a_page_of_the_database_is_its_last_writers(made: Ledger) -> None:
    """By the offsets of the log alone: which transaction logged each page last before it was written home."""
    vfs, seen = made.vfs, {}
    last = {}
    for row in vfs.sort("begin_ns").iter_rows(named=True):
        if row["page"] is not None:
            last[row["page"]] = row["transaction"]
        elif row["op"] == "write" and row["file"] == "database":
            seen[row["call"]] = last[row["offset"] // 4096 + 1]
    pages = made.pieces.filter(pl.col("label") == "database page").join(
        made.ledger.select("command", made_by="transaction"), on="command"
    )
    due: dict[tuple[int, int], int] = {}
    for row in pages.iter_rows(named=True):
        writer = seen[row["vfs_call"]]
        if writer != row["made_by"]:
            key = row["command"], writer
            due[key] = due.get(key, 0) + row["bytes"]
    told = made.deferred.join(pages.select("command").unique(), on="command")
    assert {row[:2]: row[2] for row in told.select("command", "transaction", "bytes").rows()} == due
    assert len(due) > 50


def test_report_and_tree_show_it(copy_run: Callable[[str], Path]) -> None:
    run = copy_run("sample-checkpoints")
    pipeline.analyse(run)
    page = (run / "report.html").read_text()
    said = " ".join(page.split())
    assert "3.232 % of the bytes written were written for no transaction." in said
    assert "19.582 % are deferred" in said
    loaded = Loaded(run)
    late = pl.read_parquet(run / "tables/deferred.parquet").filter(pl.col("made_by").is_not_null())
    left = late.row(0, named=True)
    shown = "\n".join(lines(loaded, left["transaction"], Terminal(None, False, True)))
    assert f"deferred, by transaction {left['made_by']}: WS database page" in shown
    made = "\n".join(lines(loaded, left["made_by"], Terminal(None, False, True)))
    assert "KiB of these for others" in made
