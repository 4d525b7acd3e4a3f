"""A board whose files all have a path with everything in it that a shell or an option could trip over."""

import json
from pathlib import Path

from base import scratch
from commitpath.boards.payload import prepared_variables
from commitpath.boards.prepared import ensure_provisioned, ensure_snapshot, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from images import programs
from images.board import VirtualBoard

# the snapshot of test_known_answers.py's
CELL = {"ROWS": "1000", "N": "50", "FS": "f2fs", "MODE": "wal"}
PLAY = [{"hosts": "{{ board }}", "gather_facts": False, "tasks": [{"ansible.builtin.raw": "true"}]}]


def test_any_path(nasty: Path) -> None:
    """Go on from a snapshot, be reached by ssh and Ansible, be saved, and run a cell."""
    cell, entry = make_cell(CELL), ansible.board("virtual")
    driver, plain = programs.driver(cell), virtual_board(cell)
    places = {
        "image": plain.image,
        "keys": plain.keys,
        "provisioned": ensure_provisioned(plain, prepared_variables(cell, driver, entry)),
        "prepared": ensure_snapshot(cell, driver, entry),
    }
    for name, place in places.items():
        (nasty / name).symlink_to(place)
    board = VirtualBoard(nasty / "image", nasty / "keys", plain.memory_mib, plain.cpu_ns, nasty / "vm")
    (nasty / "play.yml").write_text(json.dumps(PLAY))
    with (
        scratch.folder(nasty, "saved") as saved,
        board.resumed(nasty / "provisioned", saved / "ram") as (login, machine, monitor),
    ):
        ansible.play(str(nasty / "play.yml"), {"board": "virtual", **login.ansible()}, nasty / "log")
        board.save_reachable(login, machine, monitor, saved)
        assert (saved / "state").stat().st_size > 100_000
        assert {path.stat().st_mode & 0o077 for path in saved.iterdir() if path.name != scratch.LOCK} == {0}
    output = board.run_cell(nasty / "prepared", {"run-cell.sh": b"echo all is well\n"}, 60)
    assert output.text("run-cell.log") == "all is well\n"
    assert not list((nasty / "vm").iterdir())
