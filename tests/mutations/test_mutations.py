"""The analysis notices imitated faults of instruments, and `make mutations` tells noticed from missed."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import comparison  # noqa: E402
import mutations  # noqa: E402
from faults import FAULTS, description  # noqa: E402
from recording import Recording  # noqa: E402

from base.errors import BadInputError  # noqa: E402

SAMPLE = next(iter(mutations.SAMPLES))
COSTS = pl.DataFrame({name: [1000, 1000] for name in (*comparison._BYTES, *comparison._TIMES)})
BYTES = {"label WAL": 10_000.0, "for none drain": 1000.0, comparison.UNKNOWN: 1000.0}
SOUND = comparison.Reported(frozenset(), {"tps insert": 50.0}, BYTES, COSTS, "full")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples, unpacked."""
    folder = tmp_path_factory.mktemp("samples")
    mutations.unpack(folder)
    return folder


def costs(column: str, first: int) -> pl.DataFrame:
    return COSTS.with_columns(pl.Series(column, [first, 1000]))


CASES = {
    "nothing": ({}, "harmless"),
    "a new reason": ({"reasons": frozenset(["lost"])}, "noticed"),
    "bytes of a transaction": ({"costs": costs("WAL", 1011)}, "missed"),
    "bytes of a label": ({"bytes": {**BYTES, "label WAL": 9989.0, "label other": 11.0}}, "missed"),
    "bytes that are reported as unknown": (
        {"bytes": {**BYTES, "for none drain": 0.0, comparison.UNKNOWN: 2000.0}},
        "harmless",
    ),
    "bytes without a transaction": (
        {"bytes": {**BYTES, "for none drain": 1990.0, comparison.UNKNOWN: 10.0}},
        "missed",
    ),
    "time of a transaction": ({"costs": costs("cpu_ns", 1021)}, "missed"),
    "a rate": ({"numbers": {"tps insert": 50.6}}, "missed"),
    "a setting": ({"settings": "off"}, "missed"),
    "no ledger": ({"costs": pl.DataFrame()}, "missed"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_verdict(case: str) -> None:
    changed, verdict = CASES[case]
    assert comparison.verdict(SOUND, replace(SOUND, **changed))[0] == verdict  # type: ignore[arg-type]


def test_a_reason_of_the_sound_run_is_not_a_notice() -> None:
    rejected = replace(SOUND, reasons=frozenset(["no baseline run"]))
    assert comparison.verdict(rejected, replace(rejected, settings="off"))[0] == "missed"


def test_a_crash_of_the_analysis_is_a_miss(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: Path) -> comparison.Reported:
        raise ZeroDivisionError

    tried = mutations.Try("wrong_counter", SAMPLE, 1, 0)
    mutations.sound(samples / SAMPLE / "run")
    monkeypatch.setattr(comparison, "reported", crash)
    assert mutations.attempt(tried, samples).verdict == "missed"


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_noticed(kind: str, samples: Path) -> None:
    """In one of the samples, and missed in none that was tried until then; each kind begins with another."""
    tries = mutations.tries({"KIND": kind, "SEED": "1", "N": "1"})
    first = list(FAULTS).index(kind) % len(tries)
    verdicts = []
    for tried in tries[first:] + tries[:first]:
        outcome = mutations.attempt(tried, samples)
        assert outcome.verdict != "missed", tried.command
        verdicts.append(outcome.verdict)
        if outcome.verdict == "noticed":
            return
    raise AssertionError(f"it was noticed in none of the samples: {verdicts}")


def test_no_fault_is_missed_in_any_sample() -> None:
    outcomes = mutations.run(mutations.tries({"SEED": "1", "N": "1"}))
    assert [one.tried.command for one in outcomes if one.verdict == "missed"] == []
    noticed = {one.tried.kind for one in outcomes if one.verdict == "noticed"}
    assert noticed == set(FAULTS)
    assert sum(one.verdict == "noticed" for one in outcomes) > 0.8 * len(outcomes)


def test_reading_and_writing_changes_nothing(samples: Path) -> None:
    """Otherwise it could be the writing that is noticed."""
    folder = samples / SAMPLE / "run"
    before = comparison.reported(folder)
    run = Recording(folder, [])
    assert run.records.size > 0
    run.change_content(lambda records: records)
    run.change_table("device_stat.csv", lambda table: table)
    run.write()
    after = comparison.reported(folder)
    # field by field: a table has no truth value, and since Python 3.13 a dataclass asks for it
    assert before.costs.equals(after.costs)
    for name in ("reasons", "numbers", "bytes", "settings"):
        assert getattr(before, name) == getattr(after, name)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"KIND": "nonesuch"}, "KIND=nonesuch: no such one; there are lost_records, .*"),
        ({"SAMPLE": "nonesuch"}, "SAMPLE=nonesuch: no such one; there are "),
        ({"SEED": "9" * 6000}, "SEED is '9{80}…': it is a whole number from 1 to 999999999"),
        ({"N": "²"}, "N is '²': it is a whole number from 1 to 1000"),
        ({"ROWS": "1"}, "ROWS: make mutations does not take it; it takes KIND, SAMPLE, SEED, N"),
    ],
)
def test_an_invalid_variable_is_refused(given: dict[str, str], wrong: str) -> None:
    with pytest.raises(BadInputError, match=wrong):
        mutations.tries(given)


def test_the_command_prints_a_table_and_fails_on_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, str(HERE / "mutations.py"), "KIND=wrong_counter", f"SAMPLE={SAMPLE}", "N=2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2:] == [
        "| a counter of the device counts another number | 2 |  |  |",
        "| **all** | 2 |  |  |",
    ]
    missed = mutations.Outcome(mutations.Try("wrong_counter", SAMPLE, 1, 0), "missed", "all of it")
    monkeypatch.setattr(mutations, "run", lambda _: [missed])
    monkeypatch.setattr(sys, "argv", ["mutations.py"])
    assert mutations.main() == 1


def test_the_pages_have_the_numbers_of_the_table() -> None:
    """README.md has the totals of the table of docs/measurements/ledger.md, with a row for each fault."""
    text = (ROOT / "docs/measurements/ledger.md").read_text()
    rows = dict(re.findall(r"^\| (.+?) \| (.*) \|$", text.partition("| fault |")[2], re.M))
    assert {description(name) for name in FAULTS} <= rows.keys()
    noticed, harmless, missed = (int(cell or 0) for cell in rows["**all**"].split(" | "))
    said = f"of {noticed + harmless + missed} imitated faults {noticed} were noticed"
    assert said in (ROOT / "README.md").read_text()
