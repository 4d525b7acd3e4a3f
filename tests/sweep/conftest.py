"""Results folders for the tests of sweeps, the database and reporting."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lab import Lab

from commitpath.host import ansible


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """An empty results folder."""
    return Lab(tmp_path / "results")


@pytest.fixture
def labs(tmp_path: Path) -> Callable[[str], Lab]:
    """labs(name): several results folders."""
    return lambda name: Lab(tmp_path / name)


@pytest.fixture
def pi() -> Iterator[str]:
    """The name of a lab board in the inventory that another user has reserved, so no run reaches it."""
    entry = {"board_kind": "lab", "board_device": "/dev/none", "board_device_bytes": 1}
    entry["board_acquire"] = "sh -c 'echo reserved by kim; exit 1'"
    name = f"pi-{os.getpid()}"
    inventory = ansible.PLAYBOOKS / f"inventory/{name}.local.yml"
    part = inventory.with_suffix(".part")
    part.write_text(json.dumps({"boards": {"hosts": {name: entry}}}))
    part.replace(inventory)
    yield name
    inventory.unlink()
