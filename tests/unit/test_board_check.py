"""What `make board-check` says of a board, and of one that it cannot look at."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from base.errors import BadInputError
from commitpath import ansible, board_check

ENTRY = {"board_kind": "lab", "board_device": "/dev/disk/by-partlabel/commitpath", "board_device_bytes": 1}
LIMITS = ansible.limits("pi", ENTRY)
BEGIN = {
    "time_ns": "1000000000",
    "cpufreq": {"unreadable": "it has no policy"},
    "temperature/thermal_zone0 cpu-thermal": "51121",
    **{f"{who}/{what}": "0" for who in ("disk", "partition") for what in ("write_ios", "write_sectors")},
}
END = {
    **BEGIN,
    "time_ns": "2000000000",
    "temperature/thermal_zone0 cpu-thermal": "82000",
    "disk/write_ios": "60",
    "disk/write_sectors": "480",
    "partition/write_ios": "60",
    "partition/write_sectors": "480",
}
NOISE: dict[str, Any] = {
    "fsync_us": [1000.0 * number for number in range(1, 21)],
    "write_us": [2000.0] * 20,
    "begin": BEGIN,
    "end": END,
    "board": {"queue/scheduler": "none"},
}


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """An inventory of one lab board."""
    monkeypatch.setattr(ansible, "inventory", lambda: {"virtual": {"board_kind": "virtual"}, "pi": ENTRY})


@pytest.mark.parametrize("variables", [{}, {"BOARD": "virtual"}])
@pytest.mark.usefixtures("boards")
def test_no_lab_board_is_named(variables: dict[str, str]) -> None:
    with pytest.raises(BadInputError, match=r"takes BOARD=<a lab board>; playbooks/inventory has pi$"):
        board_check.board_check(variables)


@pytest.mark.usefixtures("boards")
def test_a_board_that_is_not_there() -> None:
    with pytest.raises(BadInputError, match=r"^BOARD=pie: not in .*, which has virtual, pi$"):
        board_check.board_check({"BOARD": "pie"})


def test_a_board_that_can_run() -> None:
    lines = board_check.report("pi", "f2fs", ["kernel: Linux 6.1", "probes: possible: BTF"], NOISE, LIMITS)
    text = "\n".join(lines)
    assert lines[0] == "pi: runs can be made, FS=f2fs"
    assert "  kernel  Linux 6.1" in text and "  probes  possible: BTF" in text
    # the quartiles of 1 to 20 ms
    assert "write 4 KiB and fsync                 10.500     1.000    20.000   100.0%" in text
    assert "write 4 KiB past the page cache        2.000     2.000     2.000     0.0%" in text
    assert "foreign_commands               0   0.05 allowed" in text
    assert "others_pressure       unreadable   0.05 allowed" in text
    assert "unreadable: cpufreq (it has no policy)" in text
    assert "a run would be rejected: celsius is 82, and may be 80" in text
    assert max(map(len, lines)) <= board_check.WIDTH


def test_a_board_whose_partition_is_not_proved() -> None:
    why = "format-device: refused to format /dev/x: its GPT label is '', not 'commitpath'"
    lines = board_check.report("pi", "f2fs", ["kernel: Linux 6.1"], {"refused": why}, LIMITS)
    assert lines[0] == "pi: no run can be made" and why in " ".join(" ".join(lines).split())


def test_a_board_of_another_architecture(tmp_path: Path) -> None:
    """What each call says first; all that is missing is in one line then."""
    for name, said in {"uname": "x86_64", "id": "1000"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {said}\n")
        (tmp_path / name).chmod(0o755)
    script = ansible.PLAYBOOKS / "board/check-board.sh"
    done = subprocess.run(
        ["sh", str(script), "me"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    said = ansible.cause(done.stderr)
    assert said.startswith("check-board: it is x86_64; a board is arm64 (aarch64); not root: ")
