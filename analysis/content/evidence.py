"""The input of a content reader: the writings, the units to judge, and the board's metadata."""

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
    """When the units were written, and the engine's calls."""

    calls: pl.DataFrame  # vfs.csv
    queued: Ints  # ns, of each unit: first bio of its command
    done: Ints  # ns: completion of its command


@dataclass(frozen=True)
class Evidence:
    """Everything that a content reader may use."""

    blocks: Blocks
    units: Units
    board: Path  # raw/board/
    superblock: Mapping[str, str]  # fields of its superblock.txt
    layout: Layout
    settings: Mapping[str, str]  # of the engine, effective
    release: str  # of the engine
    sizes: tuple[Mapping[str, int], ...]  # for each database, bytes of its files after the run, by role
    written: Written | None = None  # None: unknown
