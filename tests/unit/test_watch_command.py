"""`make watch`: what it takes, and what it refuses before anything is built."""

import struct
from pathlib import Path

import pytest

from analysis import checks
from analysis.checks import counts, cross_check, settings
from base import identity
from base.errors import BadInputError
from commitpath.cells.axes import axes
from commitpath.command_line import variables
from commitpath.run import watch
from images import artifacts


def elf(machine: int) -> bytes:
    """The beginning of an ELF file of 64 bits."""
    return b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HH", 3, machine) + bytes(44)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of nothing."""
    monkeypatch.setattr(artifacts, "CACHE", tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_a_command_has_a_cell_of_the_axes_that_are_its(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("echo\n")
    (tmp_path / "program").write_bytes(elf(183))
    files = f"{script},{tmp_path / 'program'}"
    given = {"CMD": "sh script.sh", "FILES": files, "PACKAGES": "python3,strace", "FS": "f2fs"}
    cell = watch.command_cell(given)
    assert (cell.load, cell.fs, cell.command) == ("command", "f2fs", "sh script.sh")
    assert not {"journal_mode", "n", "rows", "workload", "engine"} & dict(cell.axes()).keys()
    # every board has python3
    assert cell.packages == ["strace"]
    assert artifacts.kept(cell.files["script.sh"]).read_text() == "echo\n"
    name = identity.cell_name({**cell.document(), "at_default": []})
    assert name.startswith("command-f2fs-constant-v2")
    # another command, another file: another cell
    script.write_text("echo 1\n")
    others = [watch.command_cell(given), watch.command_cell({**given, "CMD": "true"})]
    assert len({identity.cell_name({**one.document(), "at_default": []}) for one in (cell, *others)}) == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "make watch takes CMD="),
        ({"CMD": "a\x07b"}, "printable characters"),
        ({"CMD": "true", "FILES": "/no/such/file"}, "/no/such/file: no such file"),
        ({"CMD": "true", "FILES": "{amd64}"}, "an ELF file of machine 62; the board's is arm64"),
        ({"CMD": "true", "FILES": "{amd64},{again}"}, "one name"),
        ({"CMD": "true", "PACKAGES": "SQLite 3"}, "not a valid Debian package name"),
        ({"CMD": "true", "FS": "ntfs"}, "FS=ntfs"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    cache: Path, tmp_path: Path, given: dict[str, str], said: str
) -> None:
    (tmp_path / "program").write_bytes(elf(62))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/program").write_bytes(elf(183))
    places = {"amd64": tmp_path / "program", "again": tmp_path / "other/program"}
    filled = {name: text.format(**places) if name == "FILES" else text for name, text in given.items()}
    with pytest.raises(BadInputError, match=said):
        watch.command_cell(filled)
    assert not list(cache.iterdir())


def test_a_lab_board_is_taken_with_what_it_has(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"board_kind": "lab", "board_device": "/dev/x", "board_device_bytes": 3 << 20}
    boards = {"virtual": {"board_kind": "virtual", "board_device": "/dev/v"}, "bench": entry}
    monkeypatch.setattr(watch.ansible, "inventory", lambda: boards)
    monkeypatch.setitem(axes()["board"].spec, "enum", ["virtual", "bench"])
    given = {"CMD": "true", "BOARD": "bench", "CLOCK": "real", "DEVICE": "own", "PROBES": "none"}
    assert watch.command_cell(given).board == "bench"
    large = cache / "large"
    large.write_bytes(bytes(2 << 20))
    for more, said in (
        ({"PACKAGES": "sqlite3"}, "PACKAGES=sqlite3: BOARD=bench has packages of its own"),
        ({"CLOCK": "virtual"}, "CLOCK=virtual: BOARD=bench has a clock of its own"),
        ({"DEVICE": "constant"}, "BOARD=bench has a device of its own; use DEVICE=own"),
        ({"FILES": str(large)}, "FILES: 2 MiB; DEVICE=own has 3, half of it for files"),
        ({"BOARD": "nowhere"}, "BOARD=nowhere: not in playbooks/inventory, which has virtual, bench"),
    ):
        with pytest.raises(BadInputError, match=said):
            watch.command_cell({**given, **more})


def test_it_takes_the_axes_that_its_cell_has_and_refuses_the_others(cache: Path) -> None:
    cell = watch.command_cell({"CMD": "true"})
    assert {"board", "clock", "kernel", "fs", "probes"} <= dict(cell.axes()).keys()
    for name, axis in axes().items():
        given = {"CMD": "true", axis.variable: str(axis.spec["default"])}
        if cell.has(name):
            variables.check("watch", given)
        else:
            with pytest.raises(BadInputError, match=f"^{axis.variable}: make watch does not take it; it"):
                variables.check("watch", given)
    variables.check("watch", {"CMD": "true", "BOARD": "pi", "CLOCK": "real", "DEVICE": "own"})


def test_each_load_has_the_checks_that_apply_to_it() -> None:
    driver, command = (set(checks.of_load(load)) for load in (identity.DRIVER, identity.COMMAND))
    assert driver & command == set(checks.OF_ANY)
    assert {counts.agree, cross_check.ledger_agrees, settings.equal} <= command
