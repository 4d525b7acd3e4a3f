"""The probes' clock is proved in the end, too: one that went wrong meanwhile rejects the run."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from analysis.checks import loss
from base.paths import ROOT
from images.cellrun import RunOutput

# The driver proves its own, that of the log of SQLite's calls, and would end the run before.
WITHOUT_LOG = "sed -i '/^WATCHED_OPTIONS=/d' cell.env && export WATCHED_OPTIONS="


def test_a_clock_that_is_wrong_in_the_end_rejects_the_run(on_board: Callable[..., RunOutput]) -> None:
    """The kernel's goes 100 ppm faster from when the watching has begun."""
    run = (ROOT / "playbooks/board/run-cell.sh").read_bytes()
    script = f"cd /run/commitpath && {WITHOUT_LOG} && sh watch.sh start && PACE && sh whole-run.sh"
    for tick_us, status in ((10_001, "1"), (10_000, "0")):
        pace = f"busybox adjtimex -t {tick_us}"
        output = on_board(script.replace("PACE", pace), {"whole-run.sh": run}, FS="ext4")
        said, log = output.text("run-cell.log"), output.text("raw/dmesg.txt")
        assert output.text("run-cell.status").strip() == status, said
        is_wrong = status == "1"
        assert ("stop-watching ended with 1, and was to end: ok" in said) == is_wrong, said
        assert ("the probes' clock is wrong" in log) == is_wrong
        board: Any = SimpleNamespace(board=SimpleNamespace(dmesg=log.splitlines()))
        assert bool(loss.kernel_quiet(board)) == is_wrong
