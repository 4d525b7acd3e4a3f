"""What the board's kernel is told on its command line is read back, and noticed where it is not so."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from commitpath import ansible
from commitpath.cell import make_cell
from commitpath.prepared import virtual_board
from images import qemu

CHECK = (ansible.PLAYBOOKS / "board/check-cmdline.sh").read_text()
# what nobody can read back
SILENT = {"randomize_kstack_offset=off"}


def said(tmp_path: Path, *scripts: str, words: str = "") -> list[tuple[int, list[str]]]:
    """(exit code, lines) of check-cmdline.sh behind each script, one after another on a board that was just
    booted."""
    board = replace(virtual_board(make_cell({"PROBES": "none"})), scratch=tmp_path)
    answers = []
    with board.started("real") as (login, _, _):
        for script in scripts:
            line = login.ssh(f"{{ {script}; }} && sh -s -- {words}")
            done = subprocess.run(line, input=CHECK, capture_output=True, text=True, check=False)
            answers.append((done.returncode, done.stderr.splitlines()))
    return answers


def test_what_was_not_asked_for_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that was told nothing has none of it; each word is refused, and one that is not known."""
    words = f"{qemu.REPEATABLE} {qemu.LEAN} moon=full"
    arguments = qemu.Machine.arguments

    def without(machine: qemu.Machine) -> list[str]:
        text = [word.replace("dtb-randomness=off", "dtb-randomness=on") for word in arguments(machine)]
        text[text.index("-append") + 1] = "console=ttyAMA0 panic=-1"
        return text

    monkeypatch.setattr(qemu.Machine, "arguments", without)
    ((code, lines),) = said(tmp_path, ":", words=words)
    assert code == 1
    of = {line.removeprefix("check-cmdline: the kernel did not take ").partition(": ")[0] for line in lines}
    assert of == set(words.split()) - SILENT, lines


def test_what_changes_after_the_boot_is_noticed(tmp_path: Path) -> None:
    """As it was booted all is well; then not what was changed."""
    change = "sh /dev/null && echo 8 > /proc/sys/vm/percpu_pagelist_high_fraction"
    before, (code, lines) = said(tmp_path, ":", change)
    assert before == (0, [])
    assert code == 1
    assert [line for line in lines if "percpu_pagelist_high_fraction=64" in line] == lines and lines
