"""A flash device's log in a recorded run: it fits probes and kernel, faults are seen; its blktrace export."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import blkparsed
import numpy as np
import pytest
import synthetic
from edited import device_log

from analysis import checks, export, pipeline, stages
from analysis.adapters.device_logs import flashsim
from analysis.checks import counts
from analysis.report import summary, terminal
from analysis.run import Run
from analysis.stats import report_tables
from model.block_operations import FUA


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    return copy_run("sample-flash-wal")


def test_the_recorded_run_holds(built_run: Callable[[str], Run]) -> None:
    """Probe, log and kernel agree with no blktrace, in the run and in its twin."""
    run = built_run("sample-flash-wal")
    assert checks.reasons(run) == []
    told = counts.by_source(run)
    assert sorted(told) == ["device log", "probe", "stat"]
    assert told["probe"]["writes"] == told["device log"]["writes"] == told["stat"]["writes"] > 100
    built = summary.build(run, report_tables.build(run), [])
    assert built["twin_commands"] == {"run": 261, "twin": 261, "same": True, "first_difference": None}
    assert built["lost_events"] == 0


def test_a_report_has_spare_blocks_and_garbage_collection(run_dir: Path) -> None:
    path = run_dir / "raw/board/device_time.txt"
    path.write_text(path.read_text().replace("gc_bytes=0\n", "gc_bytes=40960\nfree_blocks=39\n"))
    pipeline.analyse(run_dir)
    page = " ".join((run_dir / "report.html").read_text().split())
    assert "0 erases. Garbage collection copied 40 KiB. 39 blocks are free at the end." in page


def middle(entries: np.ndarray, operation: int) -> int:
    """The place of a command of that operation in the middle of the run."""
    found = np.flatnonzero(entries["operation"] == operation)
    return int(found[found.size // 2])


def lose(entries: np.ndarray) -> np.ndarray:
    return np.delete(entries, middle(entries, 1))


def move(entries: np.ndarray) -> np.ndarray:
    entries["sector"][middle(entries, 1)] += 8
    return entries


def no_fua(entries: np.ndarray) -> np.ndarray:
    entries["operation"][middle(entries, 1 | FUA)] = 1
    return entries


def late(entries: np.ndarray) -> np.ndarray:
    """A command that the device had after the kernel had its answer."""
    entries["end_ns"][middle(entries, 2)] += 10_000_000
    return entries


def failed(entries: np.ndarray) -> np.ndarray:
    entries["end_ns"][middle(entries, 1)] = 0
    return entries


FAULTS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "a lost command": (lose, "writes in the window: probe 202"),
    "another place": (move, "ledger: 1 commands missing from the device's log"),
    "another time": (late, "ledger: 1 commands missing from the device's log"),
    "a failed command": (failed, "device log: 1 block commands ended with an error"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, run_dir: Path) -> None:
    spoil, reason = FAULTS[fault]
    device_log(run_dir / "raw", spoil)
    found = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in found), found


def test_what_the_device_lost_rejects(run_dir: Path) -> None:
    device_log(run_dir / "raw", lambda entries: entries, lost=3)
    run = stages.build(run_dir)
    found = checks.reasons(run)
    assert found == [
        "the device's log lost 3 commands",
        "raw/device.bin lost 3 commands with 285 of 1048576 in it",
    ]
    assert summary.build(run, report_tables.build(run), [])["lost_events"] == 3


def test_the_devices_counters_tell_of_the_same_commands(run_dir: Path) -> None:
    device_log(run_dir / "twin/raw", no_fua)
    found = checks.reasons(stages.build(run_dir))
    assert any("raw/device.bin has fua_writes" in reason for reason in found), found


def test_a_log_that_is_not_there_rejects(run_dir: Path) -> None:
    (run_dir / "raw/device.bin").unlink()
    (run_dir / "twin/raw/device.bin").unlink()
    found = checks.reasons(stages.build(run_dir))
    assert "raw/device.bin is missing" in found
    assert "baseline run: raw/device.bin is missing" in found
    assert "only the probes recorded block commands: nothing to compare them with" in found


def test_more_commands_than_the_device_counted_rejects(run_dir: Path) -> None:
    path = run_dir / "raw/board/device_time.txt"
    kept = [line for line in path.read_text().splitlines() if not line.startswith("log_entries")]
    path.write_text("\n".join([*kept, "log_entries=3", ""]))
    assert any("device_time.txt counts 3" in reason for reason in checks.reasons(stages.build(run_dir)))


def test_a_twin_with_other_commands_is_told_of(run_dir: Path) -> None:
    """It is no fault: what goes by the clock may come at another place."""

    def change_place(entries: np.ndarray) -> np.ndarray:
        entries["sector"][middle(entries, 1)] += 1024  # whole programs: it takes no other time
        return entries

    device_log(run_dir / "twin/raw", change_place)
    run = stages.build(run_dir)
    assert checks.reasons(run) == []
    built = summary.build(run, report_tables.build(run), [])
    assert built["twin_commands"]["same"] is False
    first = built["twin_commands"]["first_difference"]
    assert 50 < first < 200
    said = (
        f"the baseline run's device got 261 commands, the watched run's 261; the first {first} are the same"
    )
    assert said in terminal.watching(built)


def test_export_for_blktraces_tools(run_dir: Path) -> None:
    """blkparse, btt and iowatcher read what is made of a run without blktrace, and count the same."""
    pipeline.analyse(run_dir)
    export.export(run_dir, ["blktrace"])
    folder = run_dir / "export/blktrace"

    def tool(*command: str) -> str:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout

    printed = tool("blkparse", "-q", "-i", "target", "-d", "merged.bin", "-f", "%a %d %S %n %C\n")
    lines = blkparsed.events(printed)
    block = json.loads((run_dir / "summary.json").read_text())["block"]
    issued = [line.split() for line in lines if line.startswith("D ")]
    assert len(issued) == block["writes"] + block["flushes"] + block["reads"]
    assert sum(int(words[3]) for words in issued) * 512 == block["bytes_written"]
    assert sum(words[1].startswith("WF") for words in issued) == block["fua"]
    assert {line.split()[0] for line in lines} == {"Q", "D", "C"}
    assert "driver" in {words[4] for words in issued}
    assert "D2C" in tool("btt", "-i", "merged.bin")
    tool("iowatcher", "-t", "target", "-o", "picture.svg")
    assert "</svg>" in (folder / "picture.svg").read_text()


def test_a_flash_device_without_its_counters_rejects(run_dir: Path) -> None:
    (run_dir / "raw/device.bin").unlink()
    (run_dir / "raw/board/device_time.txt").unlink()
    found = checks.reasons(stages.build(run_dir))
    assert any("raw/board/device_time.txt is missing" in reason for reason in found)
    assert "only one of the run and its baseline run has a device log" in found


def test_a_long_unwatched_run_needs_no_log(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log has room for a million commands: what a run beyond that loses is lost to no ledger."""
    synthetic.leave_twin(run_dir)
    device_log(run_dir / "raw", lambda entries: entries[:-30], lost=30)
    assert any("lost 30 commands with" in reason for reason in checks.reasons(stages.build(run_dir)))
    monkeypatch.setattr(flashsim, "_LOG_ENTRIES", 200)
    run = stages.build(run_dir)
    assert checks.reasons(run) == []
    assert summary.build(run, report_tables.build(run), [])["lost_events"] == 0
    device_log(run_dir / "raw", lambda entries: entries, lost=0)
    assert any("in the window: device log" in reason for reason in checks.reasons(stages.build(run_dir)))
