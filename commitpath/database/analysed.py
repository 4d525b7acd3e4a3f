"""Analyse stored runs, two at a time."""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from base.errors import BadInput

PROCESSES = 2


def analyse(folders: Sequence[Path]) -> Iterator[tuple[Path, str | None]]:
    """Yield each of the runs when it is analysed, with why it cannot be; None if it is.

    Not forked: the threads of Polars do not survive a fork. A worker ends with this process, even if that is
    killed, as its queue does.
    """
    with multiprocessing.get_context("spawn").Pool(min(PROCESSES, len(folders) or 1), _begin) as pool:
        yield from pool.imap_unordered(_analyse, folders)


def _begin() -> None:
    """Leave an interrupt to the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _analyse(folder: Path) -> tuple[Path, str | None]:
    # NumPy, Polars and Matplotlib: only who analyses needs them
    from analysis import pipeline

    try:
        pipeline.analyse(folder)
    except BadInput as error:
        return folder, str(error)
    return folder, None
