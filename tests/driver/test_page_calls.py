"""SQLite/PPL's vfs.csv: calls fit the settings, and merges' writes belong to who changed the page.

The same for a statement log is test_statement_calls.py.
"""

import polars as pl
import pytest
from conftest import Driver, binary
from test_order import _of_transactions, faults, faults_of_each, ran
from test_statement_calls import miscounted, run, written_home
from test_vfs_log import calls, inside

from analysis.ledger import contents
from model.engines import ppl

# (populate, run), and what some of its transactions are: logged, merged, a checkpoint behind either. A row is
# larger than a sector of 512 bytes
LOADS = {
    "merges": ((), (), "m"),
    "records": ((), ("--sector-size", 4096), "lm"),
    "bytes": ((), ("--sector-size", 4096, "--page-record", "bytes"), "lm"),
    "a small cache": (("--workload", "kv"), ("--workload", "kv", "--cache-size", 10), "m"),
    "dirty pages": ((), ("--sector-size", 4096, "--dirty-pages", 12), "lmc"),
    "log full": ((), ("--sector-size", 4096, "--log-size", 65536), "lm"),
}


@pytest.fixture
def pages(tmp_path):
    return Driver(binary("engine-ppl"), tmp_path)


def kinds(driver):
    """Of each transaction that called a file what it was."""
    log, found = calls(driver), set()
    for row in driver.table("transactions.csv"):
        text = "".join(ppl.CALLS[f"{call['file']}.{call['op']}"] for call in inside(log, row)).lstrip("k")
        if text:
            found |= {"l" if text[0] == "l" else "m"}
            found |= {"c"} if text[1:].count("W") == 2 or (text[0] == "l" and "W" in text) else set()
    return found


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
def test_each_transaction_is_in_order(pages, medium, load):
    populated, more, found = LOADS[load]
    pages.populate(*populated)
    run(pages, *more, medium=medium)
    settings = pages.config()["effective"]
    assert ppl.contradicted(settings, _of_transactions(pages)) == []
    assert faults(ran(pages)) == "" == miscounted(pages, ppl)
    assert kinds(pages) == set(found)
    log = calls(pages)
    assert {call["op"] for call in log if call["file"] == "pages"} >= (
        {"write", "sync"} if medium == "fdatasync" else {"copy", "msync"}
    )
    # what SQLite calls its WAL is in memory
    assert {call["op"] for call in log if call["file"] == "wal"} == {"keep"}


@pytest.mark.parametrize("sector", [512, 4096])
def test_an_explicit_checkpoint_is_behind_each_nth_transaction(pages, sector):
    pages.populate()
    run(pages, "--checkpoint-every", 3, "--sector-size", sector)
    done = ran(pages)
    assert faults(done) == "" == miscounted(pages, ppl)
    assert "in no transaction" in faults_of_each(done, 2)
    # what is merged is in the database without one
    assert (
        ("no checkpoint follows" in faults_of_each(done, 1))
        == bool(faults_of_each(done, 1))
        == (sector == 4096)
    )


def test_other_settings_are_contradicted(pages):
    pages.populate()
    run(pages, *LOADS["dirty pages"][1])
    effective, calls_ = pages.config()["effective"], _of_transactions(pages)
    for setting, value, expected in (
        ("dirty_pages", 11, "no checkpoint"),
        ("dirty_pages", 0, ", a checkpoint"),
        ("sector_size", 2048, "are outside its sectors"),
        ("log_size", 8192, "are outside its sectors"),
    ):
        assert expected in ppl.contradicted(effective | {setting: value}, calls_)[0]


def test_what_is_merged_is_of_who_had_it_kept(pages):
    """To the merged pages and to the database; by a merge it is all of the transaction's own."""
    pages.populate()
    run(pages, *LOADS["dirty pages"][1])
    log = _of_transactions(pages).with_columns(pl.col("transaction").cast(pl.Int64))
    _, written, others = written_home(log, "merge")
    assert written > 100 and others > 20
    assert contents.framed(log) == ["merge", "wal"]
