"""A recorded run with a log in persistent memory, and cuts (record-sample.sh): what its trials come
to; its faults."""

import itertools
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from edited import Rows, table

from analysis import checks, pipeline, stages
from analysis.report import terminal
from model.crash_points import pmem_lines

# of the trials, which are 30
CUTS = 30


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """Nine transactions, watched."""
    return copy_run("sample-crash-lines")


def judged(folder: Path) -> pl.DataFrame:
    found = stages.build(folder).judged
    assert found is not None
    return found


def test_the_recorded_run_holds(run_dir: Path) -> None:
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert (crash["failure"], crash["cuts"], crash["mounted"], crash["opened"]) == ("power", CUTS, CUTS, CUTS)
    assert crash["corrupt"] == crash["not_a_prefix"] == crash["broken"] == crash["unplaced"] == 0
    assert crash["lost_acknowledged"] == {"cuts": 0, "max": 0, "mean": 0.0}
    assert terminal.BROKEN not in terminal.table(result, run_dir / "report.html")


def test_what_is_said_of_its_trials(run_dir: Path) -> None:
    table = judged(run_dir)
    of_calls = table.filter(pl.col("call").is_not_null())
    assert of_calls.height > 8 and of_calls["operation"].null_count() == of_calls.height
    assert set(of_calls["engine_call"]) <= {f"{op} statements" for op in ("copy", "clean", "delete")}
    of_commands = table.filter(pl.col("command").is_not_null())
    assert of_calls.height + of_commands.height == CUTS and of_commands["operation"].null_count() == 0
    # watched, each has its place there
    assert table["watched_ns"].null_count() == 0 and table["line_policy"].null_count() == 0
    stake = table.filter(pl.col("losable_lines") > 0)
    assert (stake["lost_lines"] <= stake["losable_lines"]).all()
    everything = pl.col("line_policy") == pmem_lines.EVERYTHING
    assert (stake.filter(everything)["lost_lines"] == 0).all()
    assert (stake.filter(~everything)["lost_lines"] > 0).any()


def calls(folder: Path, how: Callable[[list[str]], list[str]], place: str = "crash/2/raw") -> None:
    path = folder / place / "driver/vfs.csv"
    path.write_text("".join(how(path.read_text().splitlines(keepends=True))))


def first(lines: list[str], op: str) -> int:
    return next(n for n, line in enumerate(lines) if f",{op},statements," in line)


def another_offset(rows: list[str]) -> list[str]:
    at = first(rows, "clean")
    fields = rows[at].split(",")
    fields[6] = str(int(fields[6]) + 64)
    return [*rows[:at], ",".join(fields), *rows[at + 1 :]]


def a_copy_for_a_clean(rows: list[str]) -> list[str]:
    at = first(rows, "clean")
    return [*rows[:at], rows[at].replace(",clean,", ",copy,"), *rows[at + 1 :]]


def truncated(rows: list[str]) -> list[str]:
    """In the place of a call that says nothing of the file."""
    at = next(n for n, line in enumerate(rows) if ",keep," in line)
    fields = rows[at].split(",")
    fields[1:3], fields[6:9] = ["truncate", "statements"], ["0", "", ""]
    return [*rows[:at], ",".join(fields), *rows[at + 1 :]]


OTHER = "did not repeat the run: its engine made other calls to persistent memory"


@pytest.mark.parametrize(
    ("how", "place", "reason"),
    [
        (another_offset, "crash/2/raw", f"trial board 2 {OTHER}"),
        (truncated, "crash/2/raw", "persistent memory: board 2 created, wrote or truncated its file"),
        (
            another_offset,
            "raw",
            "persistent memory: 2 transactions were acknowledged before their lines were",
        ),
        (a_copy_for_a_clean, "twin/raw", "logged transactions: 9, but its calls make 10"),
    ],
)
def test_calls_that_were_not_made(
    run_dir: Path, how: Callable[[list[str]], list[str]], place: str, reason: str
) -> None:
    calls(run_dir, how, place)
    reasons = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in reasons), reasons


def acknowledged_late(folder: Path) -> None:
    """On a board each lines are clean only as the next transaction begins to store."""

    def change(rows: Rows) -> None:
        for one, later in itertools.pairwise(rows):
            if one["op"] == "clean":
                one["end_ns"] = later["begin_ns"] - 1

    table(folder / "crash/1/raw/driver/vfs.csv", change)


def told_less(folder: Path, lines_of: Callable[[int], int], size_of: Callable[[int], int]) -> None:
    """Run and twin alike say of each transaction that it wrote other lines and bytes."""

    def change(rows: Rows) -> None:
        for row in rows:
            row |= {"lines": lines_of(row["lines"]), "bytes": size_of(row["bytes"])}

    for place in ("raw", "twin/raw"):
        table(folder / place / "driver/persistent.csv", change)


AMONG_CALLS = "trial board 1 did not repeat the run: its transactions were at other calls to persistent"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (acknowledged_late, AMONG_CALLS),
        (
            lambda folder: told_less(folder, lambda lines: lines // 2, lambda size: size // 2),
            "persistent memory: its transactions wrote 9691 bytes, but the engine logged 19066 in them",
        ),
        (
            lambda folder: told_less(folder, lambda lines: lines + 1, lambda size: size),
            "persistent memory: transaction 0 wrote 51 lines, but its calls cleaned 50",
        ),
    ],
)
def test_what_was_stored_is_what_its_calls_and_its_time_say(
    run_dir: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(run_dir)
    reasons = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in reasons), reasons
