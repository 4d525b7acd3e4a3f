"""Fixtures: copies of a synthetic run and of recorded runs, to read or to spoil; analyses draw no figures."""

import functools
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]

import synthetic  # noqa: E402
from edited import unhold  # noqa: E402

from analysis import stages  # noqa: E402
from analysis.run import Run  # noqa: E402

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
def stored_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """stored_run(name): the recorded run of NAME.tar.xz, unpacked once; not to be changed.

    Without the hashes of its files: it is not by these that a fault is to be seen.
    """

    @functools.cache
    def unpack(name: str) -> Path:
        shutil.unpack_archive(HERE / f"{name}.tar.xz", folder := tmp_path_factory.mktemp(Path(name).name))
        return unhold(folder / "run" if (folder / "run").is_dir() else folder)

    return unpack


@pytest.fixture(scope="session")
def built_run(stored_run: Callable[[str], Path]) -> Callable[[str], Run]:
    """built_run(name): a recorded run as stages.build reads it, read once."""
    return functools.cache(lambda name: stages.build(stored_run(name)))


@pytest.fixture
def copy_run(stored_run: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """copy_run(name): a copy of a recorded run to spoil."""
    return lambda name: Path(shutil.copytree(stored_run(name), tmp_path / "cell/run"))


@pytest.fixture(scope="session")
def kept(stored_run: Callable[[str], Path]) -> dict[str, Path]:
    """The recorded runs whose bytes were kept, by name."""
    names = (path.name.removesuffix(".tar.xz") for path in sorted((HERE / "samples").glob("*.tar.xz")))
    return {name: stored_run(f"samples/{name}") for name in names}
