"""Make what content recognisers are given of files, page by page, and list their verdict on each page."""

from pathlib import Path

import numpy as np
import polars as pl

from analysis.adapters.drivertables import no_calls
from analysis.adapters.layouts import of_regions
from analysis.content import blocks, units
from analysis.content.findings import STATES, Finding, decide
from analysis.content.units import Evidence, Written
from analysis.schemas.ledger import FILES, LABELS
from model.engines import files


class Paged:
    """Collects writings of pages; block 1000 * inode + page of the device is a page's place."""

    def __init__(self, **settings: str) -> None:
        self.settings = settings
        self.release = ""
        self.sizes: tuple[dict[str, int], ...] = ()
        self.pages: list[bytes] = []
        self.rows: list[tuple[int, ...]] = []  # label, file, inode, offset, call

    def add(self, role: str, inode: int, text: bytes, first: int = 0) -> None:
        """Write a file's pages, from its page `first` on; the call is that of the writing before it."""
        label = LABELS.index(files()[role][0])
        for at in range(0, len(text), blocks.BLOCK):
            self.pages.append(text[at : at + blocks.BLOCK].ljust(blocks.BLOCK, b"\0"))
            place = first * blocks.BLOCK + at
            self.rows.append((label, FILES.index(role), inode, place, len(self.rows)))

    def exchange(self, column: int, one: int, other: int) -> None:
        """Have the ledger say of two writings what is so of the other."""
        rows = [list(self.rows[place]) for place in (one, other)]
        rows[0][column], rows[1][column] = rows[1][column], rows[0][column]
        self.rows[one], self.rows[other] = map(tuple, rows)

    def evidence(self, written: Written | None = None) -> Evidence:
        """Return what a reader is given."""
        size = len(self.pages)
        data = np.frombuffer(b"".join(self.pages), np.uint8)
        place = [inode * 1000 + offset // blocks.BLOCK for _, _, inode, offset, _ in self.rows]
        sector, eight = np.array(place) * blocks.SECTORS, np.full(size, blocks.SECTORS)
        log = blocks.Log(np.arange(size), sector, eight, np.arange(size) * blocks.BLOCK, data)
        made, places = blocks.blocks(log)
        columns = dict(zip(("label", "file", "inode", "offset", "call"), np.array(self.rows).T, strict=True))
        columns |= {name: np.full(size, -1) for name in ("of", "home", "commit")}
        judged = units.units(units.Given(np.arange(size), sector, eight, columns), places)
        row = np.full(size, -1)
        layout = of_regions("toyfs", [(0, 0, 0)], blocks.BLOCK)
        of_run = (self.settings, self.release, self.sizes)
        return Evidence(made, judged, Path(), {}, layout, *of_run, written or Written(no_calls(), row, row))


def told(said: list[Finding], size: int) -> pl.DataFrame:
    """Return what is said of each unit: `state` and `rule`."""
    verdict = decide(size, said)
    rules = [*verdict.rules, None]
    return pl.DataFrame(
        {
            "state": [STATES[state] for state in verdict.state.tolist()],
            "rule": pl.Series([rules[place] for place in verdict.rule.tolist()], dtype=pl.String),
        }
    )
