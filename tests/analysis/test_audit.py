"""`make audit`: the recorded runs have no fault of correlation, and a fault is printed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from test_refuted_pages import writes_of_a_wal_lost

from analysis import audit, checks
from analysis.audit import main
from analysis.run import Run
from base.errors import FileError

# recorded runs whose records are correlated, and the reasons to reject each: the first is kept in part
SAMPLES = {
    "../bench/sample": ["host.json is missing", "the run was observed, but has no baseline run"],
    **{f"sample-{name}": [] for name in ("checkpoints", "f2fs-wal", "flash-wal", "nojournal")},
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_recorded_run_has_no_fault(sample: str, built_run: Callable[[str], Run]) -> None:
    run = built_run(sample)
    assert run.ledger is not None
    assert checks.reasons(run) == SAMPLES[sample]
    assert audit.reasons(run) == []


def test_runs_whose_bytes_were_kept_have_no_fault(
    kept: dict[str, Path], built_run: Callable[[str], Run]
) -> None:
    assert [audit.reasons(built_run(f"samples/{name}")) for name in kept] == [[]] * len(kept)


def test_the_command(copy_run: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = copy_run("samples/f2fs-wal")
    assert main(str(folder)) == 0
    assert capsys.readouterr().out == "no fault\n"
    writes_of_a_wal_lost(folder)
    assert main(str(folder)) == 1
    assert "xWrites past the end of a WAL" in capsys.readouterr().out
    with pytest.raises(FileError):
        main(str(folder / "none"))
