"""What an instruction takes is read back, and its share of a transaction's time is one."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic
from edited import edit
from tiny import cost

from analysis import checks, consistent, cpu, pipeline, stages, terminal
from analysis.ledger import schema
from images.qemu import REPEATABLE

HERE = Path(__file__).parent
Documents = dict[str, dict[str, Any]]


def folder_of(tmp_path: Path, cpu_ns: int = 2, ps: Any = 2001, twin_ps: Any = 2001) -> Path:
    """A made-up run of a cell with that CPU_NS, whose driver timed an instruction so."""
    folder = synthetic.make(tmp_path / "run")
    synthetic.change_cell(folder, cpu_ns=cpu_ns)
    for part, measured in (("raw", ps), ("twin/raw", twin_ps)):
        path = folder / part / "driver/config.json"
        clock = json.loads(path.read_text())["clock"] | {"instruction_ps": measured}
        edit(path, clock={name: value for name, value in clock.items() if value is not None})
    return folder


def reasons(folder: Path) -> list[str]:
    return checks.reasons(stages.build(folder))


@pytest.mark.parametrize(
    ("ps", "said"),
    [
        (1000, "1"),
        (2001, "2"),
        (8016, "8"),
        (1981, "2"),
        (1979, "1.979"),
        (2021, "2.021"),
        (1500, "1.500"),
        (300, "0.300"),
        (0, "0.000"),
        (-1, None),
        (True, None),
        ("2000", None),
        (None, None),
    ],
)
def test_a_timed_loop_is_a_time_of_an_instruction(ps: Any, said: str | None) -> None:
    assert cpu.effective({"instruction_ps": ps}) == said
    assert cpu.effective({}) is None


def test_what_was_requested_is_in_effect(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert reasons(folder) == []
    result = pipeline.analyse(folder)
    assert result["cpu_ns"] == 2
    manifest = json.loads((folder / "manifest.json").read_text())
    (setting,) = [one for one in manifest["settings"] if one["name"] == "cpu_ns"]
    assert (setting["group"], setting["requested"], setting["effective"]) == ("board", "2", "2")


@pytest.mark.parametrize(
    ("cpu_ns", "ps", "twin_ps", "said"),
    [
        (4, 2001, 2001, "board cpu_ns: requested '4', in effect '2'"),
        (2, 2100, 2001, "board cpu_ns: requested '2', in effect '2.100'"),
        (2, None, 2001, "board cpu_ns: requested '2', could not be read back"),
        (2, 2001, 4002, "untraced twin: board cpu_ns: requested '2', in effect '4'"),
        (2, 2001, None, "untraced twin: board cpu_ns: requested '2', could not be read back"),
    ],
)
def test_another_pace_than_requested_is_rejected(
    cpu_ns: int, ps: int, twin_ps: int, said: str, tmp_path: Path
) -> None:
    assert said in reasons(folder_of(tmp_path, cpu_ns, ps, twin_ps))


def test_another_clock_counts_no_instructions(tmp_path: Path) -> None:
    cell = {"clock": "real", "cpu_ns": 2}
    assert cpu.counted(cell, {"instruction_ps": 2000}) is None
    assert cpu.sentence({"clock": "real", "cpu_ns": None}) is None


def ledger_of(*costs: dict[str, Any]) -> Any:
    class Made:
        pass

    made = Made()
    made.costs = pl.DataFrame(list(costs), schema=schema.COSTS)  # type: ignore[attr-defined]
    return made


def test_the_share_is_of_all_the_time_of_an_operation() -> None:
    made = ledger_of(
        cost(0, "insert", cpu_ns=10, latency_ns=100),
        cost(1, "insert", cpu_ns=10, latency_ns=300),
        cost(2, "update", cpu_ns=0, latency_ns=100),
        cost(3, "delete"),
    )
    assert cpu.share(made) == {"insert": 0.05, "update": 0.0, "delete": None, "all": 0.04}
    assert cpu.share(ledger_of()) == {"all": None}
    assert cpu.share(None) is None


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Those of a recorded run."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.unpack_archive(HERE / "sample-f2fs-wal.tar.xz", folder)
    pipeline.analyse(folder / "run")
    names = ("cell", "summary", "manifest", "host")
    return {name: json.loads((folder / f"run/{name}.json").read_text()) for name in names}


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        ("cell.cpu_ns", 8, "cpu_ns: cell says 8, read back says '2'"),
        ("manifest.clock.instruction_ps", 4000, "cpu_ns: cell says 2, read back says '4'"),
        ("manifest.clock.instruction_ps", None, "cpu_ns: cell says 2, read back says None"),
        ("summary.cpu_ns", 4, "cpu_ns: summary says 4, read back says 2"),
        ("summary.cpu_ns", None, "cpu_ns: summary says None"),
        ("summary.cpu_share", None, "cpu_share: there with a ledger, and only then"),
        ("summary.ledger", None, "cpu_share: there with a ledger, and only then"),
        ("summary.cpu_share.insert", 1.5, "cpu_share: {'insert': 1.5} is no part of a time"),
        ("summary.cpu_share.all", 0.999, "cpu_share: of all 0.999, which is not between"),
        ("summary.cpu_share.select", 0.1, "cpu_share: of insert, update, delete, all, select; tps is of"),
    ],
)
def test_documents_that_contradict_each_other(
    documents: Documents, where: str, value: Any, said: str
) -> None:
    assert consistent.reasons(**documents) == []
    told = copy.deepcopy(documents)
    *path, last = where.split(".")
    at: Any = told
    for name in path:
        at = at[name]
    at[last] = value
    assert any(said in reason for reason in consistent.reasons(**told)), consistent.reasons(**told)


@pytest.mark.parametrize(
    ("board", "ps", "wrong"),
    [
        (f"console=ttyAMA0 {REPEATABLE}", 2001, True),
        (f"console=ttyAMA0 {REPEATABLE}", 8004, True),
        (f"console=ttyAMA0 {REPEATABLE}", 587, False),
        (f"console=ttyAMA0 {REPEATABLE}", 2010, False),
        ("androidboot.hardware=tuna", 2001, False),
    ],
)
def test_an_instruction_of_real_time(documents: Documents, board: str, ps: int, wrong: bool) -> None:
    told = copy.deepcopy(documents)
    told["cell"]["clock"] = "real"
    told["manifest"]["board"]["cmdline"] = board
    told["manifest"]["clock"]["instruction_ps"] = ps
    assert any("as in virtual time alone" in one for one in consistent.reasons(**told)) == wrong


def test_the_terminal_says_what_virtual_time_is(documents: Documents) -> None:
    said = terminal.emulation(documents["summary"] | {"cpu_share": {"insert": 0.0712, "all": None}})
    assert " ".join(" ".join(said[:-2]).split()) == (
        "time is virtual: 2 ns for each instruction, whatever it does, on one emulated core; no caches, no "
        "branch prediction, no DVFS"
    )
    assert said[-1] == "  insert 7.1 %, all - %"
    assert max(map(len, said)) <= 80
    assert terminal.emulation({"clock": "real", "cpu_ns": None, "cpu_share": None}) == []


def test_the_report_says_it_too(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    pipeline.analyse(folder)
    page = (folder / "report.html").read_text()
    assert "Time is virtual: 2 ns for each instruction, whatever it does, on one emulated core" in page
    assert "How much of a transaction's time the emulated CPU takes is not known" in page
    assert "an instruction took 2.001 ns" in page


def test_a_recorded_run_shows_its_share(tmp_path: Path) -> None:
    """Read from its table of costs, which is checked against each transaction's latency."""
    shutil.unpack_archive(HERE / "sample-f2fs-wal.tar.xz", tmp_path)
    shares = pipeline.analyse(tmp_path / "run")["cpu_share"]
    rows = pl.read_parquet(tmp_path / "run/tables/costs.parquet")
    assert shares["all"] == rows["cpu_ns"].sum() / rows["latency_ns"].sum()
    assert {op: round(share, 3) for op, share in shares.items()} == {
        "insert": 0.076,
        "update": 0.051,
        "delete": 0.076,
        "all": 0.068,
    }
    page = (tmp_path / "run/report.html").read_text()
    assert "in the watched run: insert 7.6 %, update 5.1 %, delete 7.6 %, all 6.8 %." in page
