"""Make a cell for a test that needs only some of its axes."""

from typing import Any

from model import cell as cells
from model.cell import Cell


def some_cell(**values: Any) -> Cell:
    """Return a cell with these axes and profiles; it lacks the others, which have the schema's default."""
    return cells.from_document({"profiles": {}, **values})
