"""Analyse stored runs in two processes; yield each run with its failure or None."""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from base.errors import FileError

PROCESSES = 2


def analyse(folders: Sequence[Path]) -> Iterator[tuple[Path, str | None]]:
    """Yield each run when it is analysed, with the reason for a failure or None.

    Spawned, not forked: the threads of Polars do not survive a fork. Workers end with this process, as their
    queue does.
    """
    with multiprocessing.get_context("spawn").Pool(min(PROCESSES, len(folders) or 1), _begin) as pool:
        yield from pool.imap_unordered(_analyse, folders)


def _begin() -> None:
    """Ignore SIGINT, which the waiting process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _analyse(folder: Path) -> tuple[Path, str | None]:
    # loads NumPy, Polars and Matplotlib
    from analysis import pipeline

    try:
        pipeline.analyse(folder)
    except FileError as error:
        return folder, str(error)
    return folder, None
