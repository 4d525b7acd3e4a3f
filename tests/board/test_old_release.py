"""The release of apsys17's phones syncs as today's does."""

from collections.abc import Callable
from pathlib import Path

import sync_table

from images.cellrun import RunOutput


def test_syncs_per_transaction(on_board: Callable[..., RunOutput], tmp_path: Path) -> None:
    sync_table.check("3.8.11.1", on_board, tmp_path)
