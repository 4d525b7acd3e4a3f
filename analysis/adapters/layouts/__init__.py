"""Where each filesystem keeps what: one module here for each, found by its name.

A module `<type>.py` has a function layout(raw/board/, superblock.txt's fields) → Layout.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from analysis.adapters.layout import Layout
from model.filesystems import Superblock


def layout(kind: str, board: Path, superblock: Superblock) -> Layout:
    """Return where a filesystem keeps what. Raises BadInput."""
    found: Layout = importlib.import_module(f"{__name__}.{kind}").layout(board, superblock)
    return found
