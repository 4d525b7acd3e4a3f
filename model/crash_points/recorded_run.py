"""Protocol Ran: tables of a recorded run (transactions, commits, file calls) to choose crash points from."""

from typing import Protocol

import polars as pl


class Ran(Protocol):
    """A run as recorded by its driver (analysis/adapters/driver.py)."""

    @property
    def transactions(self) -> pl.DataFrame: ...

    @property
    def commits(self) -> pl.DataFrame: ...

    @property
    def vfs(self) -> pl.DataFrame | None: ...

    @property
    def persistent(self) -> pl.DataFrame | None: ...

    @property
    def window(self) -> tuple[int, int]: ...
