"""Fixtures for sweeps and reporting: empty results folders, recorded runs analysed, a reserved lab board."""

import functools
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lab import Lab

from base import raw_files
from base.identity import cell_name
from base.paths import CACHE
from commitpath.host import ansible

SAMPLES = Path(__file__).resolve().parents[1] / "analysis"


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
    # made by the command that wants the board, which has ended; nobody else has this name
    (CACHE / f"board-{name}.lock").unlink(missing_ok=True)


@pytest.fixture(scope="session")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, undrawn: Callable[[], AbstractContextManager[None]]
) -> Callable[[str], Path]:
    """recorded(name): the analysed run of NAME.tar.xz, below its cell's folder; not to be changed."""
    results = tmp_path_factory.mktemp("results")

    @functools.cache
    def make(name: str) -> Path:
        from analysis import pipeline

        place = tmp_path_factory.mktemp("unpacked")
        shutil.unpack_archive(SAMPLES / f"{name}.tar.xz", place)
        run = place / "run" if (place / "run").is_dir() else place
        cell = json.loads(
            (run / ("watch.json" if (run / "watch.json").exists() else "cell.json")).read_text()
        )
        host = json.loads((run / "host.json").read_text())
        (run / "host.json").write_text(json.dumps(host | {"raw_sha256": raw_files.hashes(run)}))
        folder = results / cell_name(cell) / host["run_id"]
        shutil.copytree(run, folder)
        with undrawn():
            pipeline.analyse(folder)
        return folder

    return make
