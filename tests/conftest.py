"""Set up every test process; fixtures: boards for scripts and cells, awkward paths, undrawn analyses."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# The tables of tests are small: threads of Polars cost a third of an analysis' CPU time, and the workers
# that run tests use all cores. Before anything imports it.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import commands  # noqa: E402

from commitpath.boards.payload import payload  # noqa: E402
from commitpath.boards.prepared import ensure_snapshot, virtual_board  # noqa: E402
from commitpath.cells.from_variables import make_cell  # noqa: E402
from commitpath.host import ansible, places  # noqa: E402
from commitpath.run import experiment  # noqa: E402
from images import artifacts, programs  # noqa: E402
from images.cellrun import RunOutput  # noqa: E402

# tests/queued.py
pytest_plugins = ("queued",)
# All that a path may have in it, and longer than a socket's name may be.
NASTY = "a b'c\"d%h,e\\f;g#h&(i)*[j]?!~`k=<l>|ä" + 60 * "x"
# Small enough for a run of seconds.
SMALL = {"ROWS": "1000", "N": "50"}


# Polars has system calls restarted after a signal, and Ctrl-C would not be seen before such a call ends.
signal.siginterrupt(signal.SIGINT, True)

# GCC 14's sanitizer reports it by default, and GCC 12 only with this option.
os.environ["ASAN_OPTIONS"] = "detect_stack_use_after_return=1"


def pytest_sessionstart() -> None:
    """Mark the cache before tests write to it: commands refuse an unmarked folder."""
    places.begin("host")


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    """A folder whose path has everything in it that a shell or an option could trip over."""
    folder = tmp_path / NASTY
    folder.mkdir()
    return folder


def run_on_board(script: Path | str, files: dict[str, bytes] | None = None, **variables: str) -> RunOutput:
    """Run a shell script, with files below /run/commitpath, on a board restored from a snapshot."""
    cell = make_cell({**SMALL, **variables})
    entry = ansible.board("virtual")
    driver = programs.driver(cell)
    content = payload(cell)
    content |= files or {}
    content["run-cell.sh"] = script.read_bytes() if isinstance(script, Path) else script.encode()
    folder = ensure_snapshot(cell, driver, entry)
    board = virtual_board(cell)
    return board.run_cell(folder, content, 900)


@contextlib.contextmanager
def without_figures() -> Iterator[None]:
    """Analyse meanwhile without figures, and without the pages of docs/."""
    from analysis import figures
    from analysis.report import manual

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "render_all", commands.draw_nothing)
        patch.setattr(manual, "write", commands.document_nothing)
        yield


@pytest.fixture(scope="session")
def undrawn() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """`with undrawn():` without_figures."""
    return without_figures


@pytest.fixture(scope="session")
def on_board() -> Callable[..., RunOutput]:
    """on_board(script, files, FS=…): run_on_board."""
    return run_on_board


@pytest.fixture(scope="session")
def run_cell(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """run_cell(FS=…, MODE=…): a whole experiment, analysed but for its figures; the run's folder.

    Once per set of variables, whichever of the workers that run tests asks for it first.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def run(**variables: str) -> Path:
        place = shared / f"run-{artifacts.hash_of(json.dumps(variables, sort_keys=True))}"
        with artifacts.locked(place):
            if not place.exists():
                from analysis.__main__ import main as analyse

                folder = experiment.run_once(make_cell({**SMALL, **variables}))
                with without_figures():
                    analyse([str(folder)])
                place.write_text(str(folder))
        return Path(place.read_text())

    return run
