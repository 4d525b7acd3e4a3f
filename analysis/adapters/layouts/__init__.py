"""Find the function that reads a filesystem's layout on the device: a module for each filesystem.

Module `<type>.py` has a function layout(raw/board/, superblock.txt's fields) → Layout.
"""

import importlib
from pathlib import Path

from analysis.adapters.layout import Layout
from model.filesystems import Superblock


def layout(kind: str, board: Path, superblock: Superblock) -> Layout:
    """Return the layout of a filesystem. Raises FileError."""
    result: Layout = importlib.import_module(f"{__name__}.{kind}").layout(board, superblock)
    return result
