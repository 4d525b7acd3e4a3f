"""CPU_NS: what an instruction of the virtual board takes by its clock."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from base.errors import BadInputError, LabError
from commitpath.boards import prepared
from commitpath.cells import from_variables as cells
from commitpath.sweep.sweep_plan import Planned
from images import artifacts, qemu
from images.board import VirtualBoard
from model.requested import expected

NOWHERE = Path("nowhere")
LAB = {"BOARD": "bench", "DEVICE": "own", "PROBES": "none", "CLOCK": "real"}


def board(cpu_ns: int) -> VirtualBoard:
    return VirtualBoard(NOWHERE, NOWHERE, 64, cpu_ns, NOWHERE)


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"CPU_NS": "3"}, "CPU_NS=3: CPU_NS is 1, 2, 4, 8"),
        ({"CPU_NS": "2", "CLOCK": "real"}, "CPU_NS=2: CLOCK=real has"),
        ({"CPU_NS": "2", "CLOCK": "kvm"}, "CPU_NS=2: CLOCK=kvm has"),
        ({**LAB, "CPU_NS": "2"}, "CPU_NS=2: BOARD=bench has a CPU that takes its own time"),
    ],
)
def test_one_line_where_it_cannot_be(variables: dict[str, str], says: str) -> None:
    with pytest.raises(BadInputError) as error:
        cells.make_cell(variables)
    assert str(error.value).startswith(says)
    assert "\n" not in str(error.value)


def test_it_is_requested_in_virtual_time_only() -> None:
    asked = [(one.name, one.requested) for one in expected.settings(cells.make_cell({"CPU_NS": "4"}))]
    assert ("cpu_ns", "4") in asked
    for variables in ({"CLOCK": "real"}, LAB):
        assert "cpu_ns" not in [one.name for one in expected.settings(cells.make_cell(variables))]


@pytest.mark.parametrize(("cpu_ns", "shift"), [(1, 0), (8, 3)])
def test_qemu_shifts_by_it(cpu_ns: int, shift: int) -> None:
    for clock in ("virtual", "provision"):
        line = board(cpu_ns).machine(NOWHERE, clock, NOWHERE, False, None).arguments()
        assert line[line.index("-icount") + 1].split(",")[0] == f"shift={shift}"
    assert "-icount" not in board(cpu_ns).machine(NOWHERE, "real", NOWHERE, False, None).arguments()


@pytest.mark.parametrize("cpu_ns", [0, 3])
def test_what_qemu_cannot_count_is_refused(cpu_ns: int) -> None:
    with pytest.raises(LabError, match=f"CPU_NS={cpu_ns}: must be a power of two"):
        qemu.icount_shift(cpu_ns)


def test_a_snapshot_is_of_one_pace_and_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It loads only into the same machine: its key has the machine, and so has each made from it.

    An image that is made again under the same name is another one.
    """
    root = tmp_path / "root.img"
    root.touch()
    monkeypatch.setattr(qemu, "qemu_version", lambda: "QEMU of a test")
    variables = {
        **dict.fromkeys(("filesystems", "observers", "all_probes"), ""),
        **{key: [] for key in ("modules", "board_modules", "scripted")},
        **{"device_driver": "null_blk", "probes": "p/p.tar", "driver": "d/d"},
    }
    cell = cells.make_cell({})
    names = set()
    for cpu_ns in (1, 2, 4, 8):
        one = replace(board(2), cpu_ns=cpu_ns, keys=NOWHERE, image=tmp_path)
        names.add(prepared.provisioned_folder(one, variables)[0].name)
        names.add(prepared.snapshot_folder(cell, one, variables)[0].name)
    assert len(names) == 8
    # and the number of a board that is not the first (payload.prepared_variables)
    second = {**variables, "board_number": 2}
    names.add(prepared.provisioned_folder(one, second)[0].name)
    names.add(prepared.snapshot_folder(cell, one, second)[0].name)
    assert len(names) == 10
    os.utime(root, ns=(0, 1))
    assert prepared.provisioned_folder(one, variables)[0].name not in names
    assert prepared.snapshot_folder(cell, one, variables)[0].name not in names


def test_the_board_of_a_cell_has_its_pace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(artifacts, "image", lambda *_: NOWHERE)
    monkeypatch.setattr(prepared, "make_keys", lambda _: None)
    assert prepared.virtual_board(cells.make_cell({"CPU_NS": "8"})).cpu_ns == 8
    assert prepared.virtual_board(cells.make_cell({"CLOCK": "real"})).cpu_ns == 2


def test_a_sweep_prepares_a_board_for_each_pace() -> None:
    groups = {
        Planned("k", cells.make_cell({"CPU_NS": value, "PROBES": "none"}), 1, ()).group
        for value in ("1", "2", "4", "8")
    }
    assert len(groups) == 4
