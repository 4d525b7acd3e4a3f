"""What `make board-check` says of a board, and of one that it cannot look at."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from base.errors import BadInputError
from commitpath.boards import board_check
from commitpath.boards.payload import write_self_extracting
from commitpath.host import ansible

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
    assert "a run would be rejected: celsius is 82, limit 80" in text
    assert max(map(len, lines)) <= board_check.WIDTH


def test_a_board_whose_partition_is_not_proved() -> None:
    why = "format-device: refused to format /dev/x: its GPT label is '', not 'commitpath'"
    lines = board_check.report("pi", "f2fs", ["kernel: Linux 6.1"], {"refused": why}, LIMITS)
    assert lines[0] == "pi: no run can be made" and why in " ".join(" ".join(lines).split())


def on_a_board(folder: Path, says: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in playbooks/, where programs (`says`, by name) print what a board's would."""
    for name, text in says.items():
        (folder / name).write_text(f"#!/bin/sh\necho {text}\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin"}
    return subprocess.run(
        command, env=environment, cwd=ansible.PLAYBOOKS, capture_output=True, text=True, check=False
    )


def test_a_board_of_another_architecture(tmp_path: Path) -> None:
    """What each call says first; all that is missing is in one line then."""
    done = on_a_board(tmp_path, {"uname": "x86_64", "id": "1000"}, "sh", "board/check-board.sh", "me")
    assert done.returncode == 1
    cause = ansible.cause(done.stderr)
    assert cause.startswith("check-board: it is x86_64; a board is arm64 (aarch64); not root: ")


def test_a_board_with_pages_of_16_kib(tmp_path: Path) -> None:
    """As a Raspberry Pi 5: what lacks for the probes is known before the board is used."""
    check = ". board/needs.sh && . observers/probes.sh && check"
    checked = on_a_board(tmp_path, {"getconf": "16384"}, "sh", "-c", check)
    assert "the kernel's pages have 16384 bytes, and the probes need 4096: PROBES=none" in checked.stderr
    looked = on_a_board(tmp_path, {"getconf": "16384"}, "sh", "board/look.sh", "/dev/null")
    assert "probes: counters only: the kernel's pages have 16384 bytes, not 4096" in looked.stdout


def unpacked(script: Path, *words: str, **environment: str) -> list[str]:
    """What a payload says."""
    command = ["sh", str(script), *words]
    done = subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_with_check_it_is_said_what_would_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "board"
    (folder / "bin").mkdir(parents=True)
    (folder / "a.sh").write_text("one\n")
    (folder / "bin/b").write_text("same")
    script = tmp_path / "payload.sh"
    files = {"a.sh": b"one\ntwo\n", "bin/b": b"same", "c.sh": b"echo of the copy\n"}
    write_self_extracting(script, files)
    said = unpacked(script, str(folder), "sh", "c.sh", CHECK="1", DIFF="1")
    assert said[0] == f"would write {folder}/a.sh (8 bytes)" and "+two" in said
    assert said[-2:] == [f"would write {folder}/c.sh (17 bytes)", "of the copy"]
    assert (folder / "a.sh").read_text() == "one\n" and not (folder / "c.sh").exists()
    # nothing is left of the copy
    assert unpacked(script, str(folder), "pwd", CHECK="1")[-1].startswith("/tmp/")
    assert not Path(unpacked(script, str(folder), "pwd", CHECK="1")[-1]).exists()


def test_what_the_tasks_of_a_check_say() -> None:
    output = (
        'TASK [a] ****\nchanged: [pi] => {"changed": true, "stdout_lines": ["would write x"]}\n'
        'TASK [b] ****\nok: [pi] => {"changed": false}\nskipping: [pi] => {}\n'
    )
    assert ansible.output_lines(output) == ["would write x"]
