"""A bpftrace script of the user's beside the probes: what it prints is kept, what it loses is told."""

import json
from pathlib import Path

import pytest

from analysis import pipeline
from analysis.observers import script_lines
from analysis.report import terminal
from commitpath.cells.from_variables import make_cell
from commitpath.run.experiment import run_once

PRINTS = """\
kprobe:vfs_fsync_range { @start[tid] = nsecs(monotonic); }
kretprobe:vfs_fsync_range /@start[tid]/ {
  printf("%llu %s fsync %d us\\n", nsecs(monotonic), comm, (nsecs(monotonic) - @start[tid]) / 1000);
  delete(@start[tid]);
}
"""
# a page for what it prints, and 60 lines at a time
LOSES = """\
config = { perf_rb_pages = 1 }
kretprobe:vfs_fsync_range {
  unroll(60) { printf("%llu no room for so many lines of this length, by %s\\n", nsecs(monotonic), comm); }
}
"""


def scripted(folder: Path, text: str) -> Path:
    """The run of a small cell beside a script."""
    (folder / "mine.bt").write_text(text)
    return run_once(make_cell({"OBSERVERS": f"all,{folder / 'mine.bt'}", "N": "100", "ROWS": "1000"}))


def test_what_a_script_prints_is_kept(tmp_path: Path) -> None:
    folder = scripted(tmp_path, PRINTS)
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    printed = script_lines(folder / "raw").filter(
        script_lines(folder / "raw")["text"].str.starts_with("driver fsync ")
    )
    assert printed.height >= round(sum(100 * summary["syncs"][op] for op in summary["syncs"]))
    assert "notes" not in summary


@pytest.mark.parametrize("name", ["io-latency-ms", "syncs-pid-first"])
def test_a_published_script_costs_time_and_rejects_nothing(name: str) -> None:
    """As others wrote them: slow, with a number first that is no time. The published times are the twin's."""
    path = Path(__file__).parent / f"scripts/{name}.bt"
    folder = run_once(make_cell({"OBSERVERS": f"all,{path}", "N": "20", "ROWS": "100"}))
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"], summary["timing_source"]) == ("ok", [], "twin")
    assert 0.01 < summary["watching_cost"]["all"] < 1
    (note,) = summary["notes"]
    counted = json.loads((folder / "manifest.json").read_text())["probes"]["bpftrace_other_numbers"]
    assert counted > 60 and note.startswith(f"{counted} lines of the bpftrace script begin with a number ")
    assert note[:60] in terminal.table(summary, folder)


def test_a_script_that_loses_events_rejects_the_run(tmp_path: Path) -> None:
    folder = scripted(tmp_path, LOSES)
    summary = pipeline.analyse(folder)
    assert summary["status"] == "rejected"
    (lost,) = summary["reasons"]
    assert lost.startswith("the bpftrace script lost ")
    counted = json.loads((folder / "manifest.json").read_text())["probes"]["bpftrace_lost"]
    assert counted > 0
    assert lost == f"the bpftrace script lost {counted} events"
