"""make trace-synthetic: one seed makes one trace, with its study's measures; mixes become requests."""

import hashlib
import itertools
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from base.errors import BadInputError
from commitpath.boards import payload
from commitpath.cells import from_variables as cells
from commitpath.cells import identities
from commitpath.inputs import trace_synthetic
from model import synthetic, workloads
from model.expected_state import oracle
from model.statements import sqlfile, tracefile
from model.statements.sqlfile import SqlFileError
from model.synthetic import measure
from model.workloads import requests

PROFILES = trace_synthetic.names()
# What a trace of seed 1 is. It does not change: another text is another workload.
MADE = {
    "synthetic-androbench": "6af8f775fcf19e92",
    "synthetic-browser": "a64dbe9f3f395690",
    "synthetic-browser-6": "53a1ca4bbc8d5777",
    "synthetic-facebook": "dbd5495d37a93f3c",
    "synthetic-facebook-11": "4c9973a5f2bd04af",
    "synthetic-gmail": "49dac1257df6fe59",
    "synthetic-kakaotalk": "bc82b113e15c37d7",
    "synthetic-twitter": "6be27afae74e67c3",
    "synthetic-twitter-17": "6116d97ec0b5adae",
}


def found(name: str, seed: int) -> list[tuple[str, float, float, str]]:
    profile = PROFILES[name]
    spec = synthetic.from_profile(profile)
    ran = measure.executed(synthetic.parts(synthetic.text_of(profile, seed)), spec.checkpoints)
    return measure.table(spec, ran, profile.get("told", {}))


def digest(transactions: Iterable[sqlfile.Statement]) -> str:
    """The beginning of the hash of a trace's SQL."""
    return hashlib.sha256("".join(one.text for one in transactions).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", PROFILES)
def test_each_measure_is_the_studys(name: str) -> None:
    rows = found(name, 1)
    assert measure.wrong(rows) == []
    # of the study's own table only what it contradicts itself in is not fitted, and its files
    unfitted = {words for words, _, _, note in rows if note}
    told = {measure.ROWS[word] for word in PROFILES[name].get("told", {})}
    assert unfitted - {"files"} == told
    assert digest(synthetic.parts(synthetic.text_of(PROFILES[name], 1)).transactions) == MADE[name]


def test_over_several_files_each_has_the_same_part() -> None:
    """Of transactions and pages, to one; and they come in any order."""
    profile = PROFILES["synthetic-facebook-11"]
    parts = synthetic.parts(synthetic.text_of(profile, 1))
    of = [one.database for one in parts.transactions]
    counts = {number: of.count(number) for number in range(11)}
    assert parts.databases == 11 and sum(counts.values()) == profile["batches"] + profile["alone"]
    assert max(counts.values()) - min(counts.values()) <= 2
    assert sum(one != other for one, other in itertools.pairwise(of)) > len(of) // 2
    assert {one.database for one in parts.schema} == set(range(11))
    # the first transactions alone are of some of the databases, which are all there
    short = cells.make_cell({"WORKLOAD": "synthetic-facebook-11", "N": "3"})
    assert short.profiles["file"]["databases"] == 11
    assert payload.packed(short)[1].count(b"\0") == 3


@pytest.mark.parametrize("name", [f"synthetic-{app}" for app in ("androbench", "gmail", "facebook-11")])
def test_another_seed_is_another_trace_that_fits_too(name: str) -> None:
    assert measure.wrong(found(name, 2)) == []
    assert digest(synthetic.parts(synthetic.text_of(PROFILES[name], 2)).transactions) != MADE[name]


def test_the_file_says_that_it_is_synthetic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "made.trace"
    assert trace_synthetic.trace_synthetic({"NAME": "synthetic-gmail", "FILE": str(place)}) == 0
    text = place.read_text()
    assert "# SYNTHETIC: made by commitpath, WORKLOAD=synthetic-gmail SEED=1; no program did this" in text
    printed = capsys.readouterr().out
    assert re.search(r"^page writes +6041 +6041$", printed, re.MULTILINE)
    assert digest(tracefile.parts(text).transactions) == MADE["synthetic-gmail"]


@pytest.mark.parametrize("more", [{"BATCH": "1"}, {"BATCH": "4", "VALUE_SIZE_DISTRIBUTION": "zipfian"}])
@pytest.mark.parametrize("name", ["sqlitekv-update-heavy", "ycsb-d", "ycsb-e", "delete-random"])
def test_a_mix_is_written_as_the_workload_executes_it(
    tmp_path: Path, name: str, more: dict[str, str]
) -> None:
    """The trace's transactions are those of the mix, and so are the rows after each."""
    given = {"ROWS": "30", "N": "20", "VALUE_SIZE": "90", "SEED": "5", **more}
    place = tmp_path / "new.trace"
    assert trace_synthetic.trace_synthetic({"NAME": name, "FILE": str(place), **given}) == 0
    mix = cells.make_cell({"WORKLOAD": name, **given})
    replayed = cells.make_cell({"WORKLOAD": "requests", "FILE": str(place)})
    assert (replayed.rows, replayed.n, replayed.value_size) == (30, 20, 90)
    made = workloads.transactions(workloads.by_name("mix"), workloads.options(mix), ["mix"])
    assert requests.read(place.read_text()).transactions == tuple(made)
    assert oracle.after_each(replayed, ["requests"]) == oracle.after_each(mix, ["mix"])


def test_a_trace_that_would_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_synthetic, "MOST_BYTES", 1000)
    given = {"NAME": "ycsb-a", "FILE": str(tmp_path / "new"), "ROWS": "10", "N": "100"}
    with pytest.raises(BadInputError, match=r"would have [0-9]+ bytes, and WORKLOAD=requests takes 1000"):
        trace_synthetic.trace_synthetic(given)
    assert not list(tmp_path.iterdir())


def test_a_studys_trace_has_no_other_options(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="BATCH: only for a mix of operations"):
        trace_synthetic.trace_synthetic(
            {"NAME": "synthetic-gmail", "FILE": str(tmp_path / "new"), "BATCH": "2"}
        )


def test_a_workload_of_it_is_a_cell_that_has_its_measures_and_not_its_text() -> None:
    cell = cells.make_cell({"WORKLOAD": "synthetic-browser", "ENGINE": "ssl", "SEED": "2"})
    assert (cell.n, cell.file, cell.rows) == (1522, "", 0)
    assert len(str(cell)) < 10_000
    short = cells.make_cell({"WORKLOAD": "synthetic-gmail", "N": "7"})
    schema, transactions = payload.packed(short)
    assert transactions.count(b"\0") == 7 and schema.startswith(b"3\nCREATE TABLE item")
    assert payload.payload(short)["transactions"] == transactions
    whole = cells.make_cell({"WORKLOAD": "synthetic-gmail"})
    assert "transactions" not in payload.payload(whole)
    assert payload.populated(whole)["transactions"].startswith(transactions)
    ids = [
        identities.cell_id(one)
        for one in (short, whole, cells.make_cell({"WORKLOAD": "synthetic-gmail", "SEED": "2"}))
    ]
    assert len(set(ids)) == 3


GMAIL: dict[str, Any] = PROFILES["synthetic-gmail"]
WRONG = [
    # no machine makes these, and a stored run's cell may ask for them
    ({"statements": 10**12}, "statements: '1000000000000' is not from 0 to 1000000"),
    ({"megabytes": math.nan}, "megabytes: 'nan' is not from 0 to 1000000"),
    ({"sql_bytes": 10**6, "updates": 2000}, "2000 updates of 1000000 sql_bytes: more than"),
    ({"updates": 985}, "Gmail: 984 transactions are fewer than updates: 985"),
    ({"page_writes": 700}, "Gmail: 700 page_writes are fewer than updates: 704"),
    ({"megabytes": 0.01}, "Gmail: 0 rows of a database of that size"),
    ({"pages": 900}, "Gmail: [0-9]+ pages are to come, and [0-9]+ transactions write 3 pages"),
    ({"pages": 5}, "Gmail: a transaction of [0-9]+ pages, of 5"),
    (
        {"sql_bytes": 100},
        "Gmail: 100 bytes of SQL in a transaction leave -[0-9]+ for each of its texts; 8 to",
    ),
]


@pytest.mark.parametrize(("changed", "said"), WRONG)
def test_measures_that_no_trace_has_are_told(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(SqlFileError, match=f"^{said}"):
        synthetic.trace(synthetic.from_profile({**GMAIL, **changed}), 1)
