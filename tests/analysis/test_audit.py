"""`make audit`: the recorded runs have no fault of correlation, and a fault is printed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from test_refuted_pages import writes_of_a_wal_lost

from analysis import audit
from analysis.audit import main
from analysis.run import Run
from base.errors import FileError

# those of watched runs, whose records are correlated
SAMPLES = (
    "sample-checkpoints",
    "sample-nojournal",
)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_recorded_run_has_no_fault(sample: str, built_run: Callable[[str], Run]) -> None:
    run = built_run(sample)
    assert run.ledger is not None
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
