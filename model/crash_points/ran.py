"""What the crash points of a run are chosen from: the tables of its driver."""

from typing import Protocol

import polars as pl


class Ran(Protocol):
    """A run as its driver noted it (analysis/adapters/driver.py)."""

    @property
    def transactions(self) -> pl.DataFrame: ...

    @property
    def vfs(self) -> pl.DataFrame | None: ...

    @property
    def persistent(self) -> pl.DataFrame | None: ...

    @property
    def window(self) -> tuple[int, int]: ...
