"""A bpftrace script of the user's beside the probes: what it prints is kept, what it loses is told."""

import json
from pathlib import Path

import pytest

from analysis import pipeline
from analysis import run as runs
from analysis.observers import told
from commitpath.cell import make_cell
from commitpath.experiment import run_once

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


def test_what_a_script_prints_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = scripted(tmp_path, PRINTS)
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    printed = told(folder / "raw").filter(told(folder / "raw")["text"].str.starts_with("driver fsync "))
    assert printed.height >= round(sum(100 * summary["syncs"][op] for op in summary["syncs"]))
    # which limits need be wider, is no guess: without that this run is rejected
    monkeypatch.setattr(runs, "_SCRIPT", 1)
    assert any("calls go on after their syncs" in reason for reason in pipeline.analyse(folder)["reasons"])


def test_a_script_that_loses_events_rejects_the_run(tmp_path: Path) -> None:
    folder = scripted(tmp_path, LOSES)
    summary = pipeline.analyse(folder)
    assert summary["status"] == "rejected"
    # what it prints takes time that the twin does not explain, too
    (lost,) = [reason for reason in summary["reasons"] if "bpftrace" in reason]
    assert lost.startswith("the bpftrace script lost ")
    counted = json.loads((folder / "manifest.json").read_text())["probes"]["bpftrace_lost"]
    assert counted > 0
    assert lost == f"the bpftrace script lost {counted} events"
