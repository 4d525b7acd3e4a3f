"""Numbers of more digits than Python's int() takes, 4300, in any file of a run: one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import __main__ as command
from analysis import report
from analysis.observers.blktrace import read_summary
from base.errors import BadInput, BadInputError
from commitpath.cell import make_cell

LONG = "9" * 5000


@pytest.mark.parametrize("digits", ["9" * 30, LONG, "-" + LONG])
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("cell.json", r'"n": ?()\d+'),
        ("host.json", r'"run_id": ?()"run"'),
        ("raw/run.json", r'"attached": ?()\d+'),
        ("raw/driver/config.json", r'"rows_before": ?()\d+'),
        ("raw/driver/transactions.csv", r"\n()\d+"),
        ("raw/driver/device_stat.csv", r",()\d+"),
        ("raw/driver/phases.csv", r",()\d+"),
    ],
)
def test_in_a_document_or_a_table(
    name: str, place: str, digits: str, run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_dir / name
    text = path.read_text()
    spoiled = re.sub(place, lambda found: found[0][: found.start(1) - found.start()] + digits, text, count=1)
    assert spoiled != text
    path.write_text(spoiled)
    assert command.main([str(run_dir)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"commitpath: {path}: ") and said.count("\n") == 1 and len(said) < 500
    assert re.search("64.bit", said)


def test_in_what_the_board_says(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    assert report.device_time({"time_flush_ns": LONG, "time_read_ns": "5"}) == [("read", 5e-9, 100.0)]
    path.write_text(f"  Total:  {LONG} events (dropped 0), 5 KiB data\n")
    with pytest.raises(BadInput, match="0 lines with a total"):
        read_summary(path)


@pytest.mark.parametrize("number", [LONG, f"1{'0' * 4999}", "1e999"])
def test_in_a_variable(number: str) -> None:
    with pytest.raises(BadInputError, match="N is a whole number from"):
        make_cell({"N": number})
