"""What a reader of bytes is given: the writings, the units to be judged, and what the board said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from analysis.adapters.layout import Layout
from analysis.content.blocks import Blocks
from analysis.content.units import Units
from base.arrays import Ints


@dataclass(frozen=True)
class Written:
    """When the units were written, and by which of the engine's calls."""

    calls: pl.DataFrame  # vfs.csv
    queued: Ints  # ns, of each unit: its command's first bio
    done: Ints  # ns: its command


@dataclass(frozen=True)
class Evidence:
    """All that a reader may look at."""

    blocks: Blocks
    units: Units
    board: Path  # raw/board/
    superblock: Mapping[str, str]  # fields of its superblock.txt
    layout: Layout
    settings: Mapping[str, str]  # of the engine, in effect
    release: str  # of the engine
    sizes: tuple[
        Mapping[str, int], ...
    ]  # bytes of each of its files after the run, by role, of each database
    written: Written | None = None  # None: it is not known
