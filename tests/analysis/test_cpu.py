"""CPU_NS: the measured time of an instruction is checked, and the CPU's share of a transaction's time."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic
from edited import edit
from tiny import cost

from analysis import checks, pipeline, stages
from analysis.checks import virtual_board
from analysis.instrument import cpu
from analysis.schemas import ledger as schema


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
    [(2001, "2"), (1981, "2"), (1979, "1.979"), (0, "0.000"), (-1, None), ("2000", None), (None, None)],
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
        (2, 2001, 4002, "baseline run: board cpu_ns: requested '2', in effect '4'"),
    ],
)
def test_another_pace_than_requested_is_rejected(
    cpu_ns: int, ps: int, twin_ps: int, said: str, tmp_path: Path
) -> None:
    assert said in reasons(folder_of(tmp_path, cpu_ns, ps, twin_ps))


def test_a_board_that_counts_instructions_is_not_in_real_time(tmp_path: Path) -> None:
    """QEMU's -icount left on: only the whole ns of an instruction show it."""
    for number, (ps, count) in enumerate(((2001, 1), (2100, 0), (587, 0))):
        folder = folder_of(tmp_path / str(number), ps=ps)
        synthetic.change_cell(folder, clock="real")
        path = folder / "raw/board/cmdline.txt"
        path.write_text(f"{path.read_text().strip()} nokaslr norandmaps randomize_kstack_offset=off\n")
        assert len(virtual_board.runs_in_real_time(stages.build(folder))) == count


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
