"""CPU_NS: what an instruction of the virtual board takes."""

import json
from collections.abc import Callable
from pathlib import Path


def test_an_instruction_takes_what_cpu_ns_says(run_cell: Callable[..., Path]) -> None:
    """By the driver's loop, and by what a phase without statements takes: instructions, and the kernel's
    tick, which comes by the clock."""
    rates = {}
    for cpu_ns in (2, 8):
        folder = run_cell(WORKLOAD="null", PROBES="none", CPU_NS=str(cpu_ns), N="2000")
        result = json.loads((folder / "summary.json").read_text())
        assert result["status"] == "ok", result["reasons"]
        assert result["cpu_ns"] == cpu_ns
        clock = json.loads((folder / "raw/driver/config.json").read_text())["clock"]
        assert 1000 * cpu_ns <= clock["instruction_ps"] <= 1010 * cpu_ns
        rates[cpu_ns] = result["tps"]["insert"]
    assert 3.6 < rates[2] / rates[8] < 4.4
