"""Makes `analysis` importable and gives each test a synthetic run of its own."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]

import synthetic  # noqa: E402

# What is about the figures, and test_consistent.py, which has recorded runs: theirs are drawn.
DRAWN = ("test_pipeline", "test_sample", "test_consistent")


@pytest.fixture(autouse=True, scope="module")
def _undrawn(
    request: pytest.FixtureRequest, undrawn: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Analyse without figures, but in DRAWN."""
    if request.module.__name__ in DRAWN:
        yield
        return
    with undrawn():
        yield


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic run that every check accepts; not to be changed."""
    return synthetic.make(tmp_path_factory.mktemp("synthetic") / "cell" / "run", n=5)


@pytest.fixture
def run_dir(template: Path, tmp_path: Path) -> Path:
    """A copy of `template` to spoil."""
    return Path(shutil.copytree(template, tmp_path / "cell" / "run"))


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The recorded runs whose bytes were kept, by name; not to be changed. Without the hashes of their files:
    it is not by these that a fault is to be seen."""
    found = {}
    for archive in sorted((HERE / "samples").glob("*.tar.xz")):
        name = archive.name.removesuffix(".tar.xz")
        shutil.unpack_archive(archive, folder := tmp_path_factory.mktemp(name))
        found[name] = folder / "run"
        host = found[name] / "host.json"
        said = json.loads(host.read_text())
        del said["raw_sha256"]
        host.write_text(json.dumps(said))
    return found
