"""Numbers of more digits than Python's int() takes, 4300, in any file of a run: one line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_layout import F2FS

from analysis import __main__ as command
from analysis import layouts, mkfs, report
from analysis.checks import loss
from analysis.observers.blktrace import read_summary
from base.errors import BadInput, BadInputError
from commitpath.cell import make_cell
from commitpath.reporting import facts

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
        ("raw/board/groups.txt", r"\n0:0:()\d+"),
        ("raw/board/inodes.txt", r"\):()\d+"),
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
    assert re.search("64.bit|:block-block", said)


def test_in_what_the_board_says(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    assert report.device_time({"time_flush_ns": LONG, "time_read_ns": "5"}) == [("read", 5e-9, 100.0)]
    path.write_text(f"  Total:  {LONG} events (dropped 0), 5 KiB data\n")
    with pytest.raises(BadInput, match="0 lines with a total"):
        read_summary(path)


def test_in_the_kernels_log() -> None:
    """A line whose level is no level is none, and no traceback."""
    run: Any = SimpleNamespace(board=SimpleNamespace(dmesg=[f"<{LONG}>a line", "<3>a disk's error"]))
    assert loss.kernel_quiet(run) == ["kernel: <3>a disk's error"]


@pytest.mark.parametrize("value", ["two", "²", 2.5, True, None])
@pytest.mark.parametrize(
    ("name", "key", "says"),
    [
        ("cell.json", "cpu_ns", "expected ns of an instruction"),
        ("raw/driver/config.json", "checkpoint_every", "expected see docs/reference/formats.md"),
    ],
)
def test_what_is_no_number(
    name: str, key: str, says: str, value: object, run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_dir / name
    document = json.loads(path.read_text())
    (document["driver"] if key in document.get("driver", {}) else document)[key] = value
    path.write_text(json.dumps(document))
    assert command.main([str(run_dir)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"commitpath: {path}: ") and said.endswith(f"{says}\n") and said.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("files.txt", f"{LONG} 4096 test.db\n"),
        ("inodes.txt", f"Inode: {LONG}   Type: regular\n"),
        ("inodes.txt", f"Generation: {LONG}    Version: 0\n"),
        ("inodes.txt", f"File ACL: {LONG}\n"),
        ("inodes.txt", f"(0-1):5-{LONG}\n"),
    ],
)
def test_in_what_a_filesystems_tools_print(
    name: str, line: str, run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_dir / "raw/board" / name
    number = len(path.read_text().splitlines()) + 1
    path.write_text(path.read_text() + line)
    assert command.main([str(run_dir)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"commitpath: {path}: line {number}: ") and said.count("\n") == 1
    assert "expected a 64-bit integer" in said and len(said) < 500


@pytest.mark.parametrize("digits", [LONG, "²"])
def test_in_a_superblock(digits: str, tmp_path: Path) -> None:
    """What cannot be told is not taken for what was asked."""
    size = {"log.blocks": digits, "log.bsize": "4096"}
    assert mkfs.effective("xfs", "-l size", "67108864", size) is None
    superblock = F2FS | {"log_blocksize": f"0x c : {digits}"}
    with pytest.raises(BadInput, match=r"log_blocksize is '.{1,100}'; expected a 64-bit integer"):
        layouts.layout("f2fs", tmp_path, superblock)


def test_in_what_is_reported() -> None:
    assert facts.memory(f"MemTotal: {LONG} kB") is None


@pytest.mark.parametrize("number", [LONG, f"1{'0' * 4999}", "1e999"])
def test_in_a_variable(number: str) -> None:
    with pytest.raises(BadInputError, match="N is a whole number from"):
        make_cell({"N": number})
