"""Which QEMU a board has, and what is said where ours cannot be."""

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from some_cell import some_cell

from base.errors import BadInputError, LabError
from commitpath.sweep import emulator_build
from images import artifacts, emulator, qemu
from images.board import VirtualBoard

DEBIANS = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)"


@pytest.fixture(autouse=True)
def debians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of its own, and a QEMU of Debian's."""
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(qemu, "qemu_version", lambda: DEBIANS)
    monkeypatch.delenv("COMMITPATH_EMULATOR", raising=False)
    caches = (emulator.patch, emulator.chosen)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def make() -> Path:
    folder = emulator.folder()
    folder.mkdir()
    (folder / qemu.QEMU).touch()
    return folder / qemu.QEMU


def test_ours_is_used_once_it_is_there_unless_stock_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert emulator.chosen() == qemu.QEMU
    emulator.chosen.cache_clear()
    made = make()
    assert emulator.chosen() == str(made)
    emulator.chosen.cache_clear()
    monkeypatch.setenv("COMMITPATH_EMULATOR", "stock")
    assert emulator.chosen() == qemu.QEMU


@pytest.mark.parametrize(
    ("choice", "says"),
    [("own", "EMULATOR=own: not built; `make emulator` builds it"), ("mine", "must be own or stock")],
)
def test_a_choice_that_cannot_be(choice: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMITPATH_EMULATOR", choice)
    with pytest.raises(BadInputError, match=says):
        emulator.chosen()


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("QEMU emulator version 8.1.2 (Debian 1:8.1.2+ds-1)", "no patch for QEMU 8.1.2, only for 10.0, 7.2;"),
        (
            "QEMU emulator version 7.2.22",
            "built from Debian's QEMU, but the installed one is 'QEMU emulator version 7.2.22'",
        ),
    ],
)
def test_without_a_patch_debians_is_used(version: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "qemu_version", lambda: version)
    with pytest.raises(LabError, match=says):
        emulator.build()
    assert emulator.chosen() == qemu.QEMU and not emulator.can_be_built()


@pytest.mark.parametrize("path", sorted(emulator.FOLDER.glob("*.patch")), ids=lambda path: path.name)
def test_a_patch_gives_the_reason_of_each_file_that_it_changes(path: Path) -> None:
    """A title, then paragraphs that begin with the names of their files."""
    prose, *changes = re.split("^diff --git ", path.read_text(), flags=re.MULTILINE)
    title, *reasons = (" ".join(words.split()) for words in prose.strip().split("\n\n"))
    assert title.startswith(f"QEMU {path.stem}: ")
    named = [name for reason in reasons for name in reason.partition(": ")[0].split(", ")]
    assert sorted(named) == sorted(change.split()[0].removeprefix("a/") for change in changes)


def test_a_build_that_fails_leaves_debians(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(artifacts, "IMAGES", tmp_path)
    (tmp_path / "patched-qemu").mkdir()
    script = tmp_path / "patched-qemu/build.sh"
    script.write_text("#!/bin/sh\necho 'ERROR: our patch does not apply to this release'\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(artifacts, "need_space", lambda *_: None)
    with pytest.raises(LabError, match="emulator failed: ERROR: our patch does not apply to this release"):
        emulator.build()
    assert emulator.chosen() == qemu.QEMU and not list(tmp_path.glob("emulator-*/"))


def test_a_snapshot_fits_both(tmp_path: Path) -> None:
    boards = [VirtualBoard(tmp_path, tmp_path, 2048, 2, tmp_path, name) for name in (qemu.QEMU, "/ours")]
    assert boards[0].description() == boards[1].description()
    virtual, kvm = (boards[1].machine(tmp_path, clock, tmp_path, False, None) for clock in ("virtual", "kvm"))
    # of the same release, but the host's CPU is no matter of ours
    assert (virtual.executable(), kvm.executable()) == ("/ours", qemu.QEMU)


def test_a_board_of_ours_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make destroy` and the tests look for what is called so."""
    (tmp_path / "vm").mkdir()
    board = VirtualBoard(tmp_path, tmp_path, 2048, 2, tmp_path, "/ours")
    machine = board.machine(tmp_path / "vm", "virtual", tmp_path / "ram", False, None)
    started: list[tuple[str, str]] = []

    def start(words: list[str], executable: str, **_: object) -> None:
        started.append((words[0], executable))
        raise OSError

    monkeypatch.setattr(qemu.subprocess, "Popen", start)
    with pytest.raises(OSError), qemu.running(machine):
        pass
    assert started == [("qemu-system-aarch64", "/ours")]


def test_a_long_sweep_builds_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not with runs on a real clock, nor with a chosen QEMU; what is not done ends with the sweep."""
    # called from elsewhere, of this checkout all the same
    monkeypatch.chdir(tmp_path)
    script = "import pathlib, sys, time, commitpath; pathlib.Path(sys.argv[1]).touch(); time.sleep(60)"
    began = tmp_path / "began"
    monkeypatch.setattr(emulator_build, "COMMAND", (sys.executable, "-c", script, str(began)))
    monkeypatch.setattr(emulator_build, "LOG", tmp_path / "log/emulator.log")
    cells = [some_cell(clock="virtual")] * 21
    with emulator_build.meanwhile(cells):
        while not began.exists():
            time.sleep(0.02)
    out = capsys.readouterr().err
    assert out.startswith("QEMU with our patch is built meanwhile (once; ")
    assert out.endswith("QEMU with our patch is not done; `make emulator` builds it\n")
    monkeypatch.setattr(emulator_build, "COMMAND", (sys.executable, "-c", "raise SystemExit(1)"))
    with emulator_build.meanwhile(cells):
        time.sleep(0.5)
    assert "could not be built: " in capsys.readouterr().err
    assert not emulator_build.wanted(cells[1:])
    assert not emulator_build.wanted([*cells, some_cell(clock="real")])
    monkeypatch.setenv("COMMITPATH_EMULATOR", "stock")
    assert not emulator_build.wanted(cells)
    monkeypatch.delenv("COMMITPATH_EMULATOR")
    make()
    assert not emulator_build.wanted(cells)
