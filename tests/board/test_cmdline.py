"""What the board's kernel is told on its command line is read back, and noticed where it is not so.

Where it changes after the boot: test_lab_board.py, which has a board that was just booted.
"""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from commitpath.boards.prepared import virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from images import qemu

CHECK = (ansible.PLAYBOOKS / "board/check-cmdline.sh").read_text()
# what nobody can read back
SILENT = {"randomize_kstack_offset=off"}


def test_what_was_not_asked_for_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that was told nothing has none of it; each word is refused, and one that is not known."""
    words = f"{qemu.REPEATABLE} {qemu.LEAN} moon=full"
    arguments = qemu.Machine.arguments

    def without(machine: qemu.Machine) -> list[str]:
        text = [word.replace("dtb-randomness=off", "dtb-randomness=on") for word in arguments(machine)]
        text[text.index("-append") + 1] = "console=ttyAMA0 panic=-1"
        return text

    monkeypatch.setattr(qemu.Machine, "arguments", without)
    board = replace(virtual_board(make_cell({"PROBES": "none"})), scratch=tmp_path)
    with board.started("real") as (login, _, _):
        line = login.ssh(f"sh -s -- {words}")
        done = subprocess.run(line, input=CHECK, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    of = {line.removeprefix("check-cmdline: the kernel did not take ").partition(": ")[0] for line in lines}
    assert of == set(words.split()) - SILENT, lines
