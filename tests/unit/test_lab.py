"""What a lab board needs of the host."""

from pathlib import Path

import pytest

from commitpath import ansible, host, payload
from commitpath.cell import make_cell
from images import artifacts

LAB = {"BOARD": "pi", "CLOCK": "real", "DEVICE": "own", "PROBES": "none", "ROWS": "10"}
ENTRY = {"board_kind": "lab", "board_device": "/dev/disk/by-partlabel/commitpath", "board_device_bytes": 1}


@pytest.mark.parametrize("more", [{"ENGINE": "sqlite"}, {"ENGINE": "leveldb"}])
def test_what_is_built_for_a_lab_board(
    more: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build root and the driver: no userland, kernel, image, probes or emulator."""
    built = []

    def ensure(path: Path, *_: object, **__: object) -> Path:
        built.append(path.name.partition("-")[0])
        path.mkdir(parents=True, exist_ok=True)
        return path

    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(artifacts, "ensure", ensure)
    cell = make_cell({**LAB, **more})
    variables = payload.prepared_variables(cell, artifacts.driver(cell), ENTRY)
    payload.board_files(variables)
    assert set(built) <= {"build", "driver", "sqlite", cell["sqlite"]}, built


def test_what_is_installed_for_a_lab_board() -> None:
    lists = ansible.load_yaml(ansible.PLAYBOOKS / "host.yml")[0]["vars"]
    of_lab = [package for name in host.package_lists(False, virtual=False) for package in lists[name]]
    assert not [package for package in of_lab if "qemu" in package]
    assert "qemu-system-arm" in lists["virtual_packages"]
    assert set(host.package_lists(False, virtual=False)) < set(host.package_lists(False))
    # the tests have virtual boards
    assert "virtual_packages" in host.package_lists(True, virtual=False)
