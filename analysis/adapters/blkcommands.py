"""Map records of the kernel's block tracer to the command's kind (write, flush, …) and its letters (rwbs)."""

from functools import cache

import numpy as np
import polars as pl

from analysis.adapters.blkrecords import AHEAD, DISCARD, FLUSH, FUA, META, SYNC, WRITE
from analysis.schemas import events

# An action's bits 17-19, 27-29 and 31, and a bit for "has data", are packed into a code of 8 bits.
_BITS = (WRITE, FLUSH, SYNC, AHEAD, META, DISCARD, FUA)
_HAS_DATA = 1 << len(_BITS)


def codes(action: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the code of each record, an index of `words`."""
    code = action >> 17 & 7 | action >> 27 << 3 & 0x38 | action >> 31 << 6
    return np.asarray(code | (size > 0).astype(np.uint32) << 7)


@cache
def words() -> pl.DataFrame:
    """Return rwbs and kind of each code."""
    letters = []
    for code in range(2 * _HAS_DATA):
        has = {bit: code >> place & 1 for place, bit in enumerate(_BITS)}
        operation = "D" if has[DISCARD] else "W" if has[WRITE] else "R" if code & _HAS_DATA else "N"
        before = "F" if has[FLUSH] else ""
        after = ((FUA, "F"), (AHEAD, "A"), (SYNC, "S"), (META, "M"))
        letters.append(before + operation + "".join(letter for bit, letter in after if has[bit]))
    sectors = [code // _HAS_DATA for code in range(2 * _HAS_DATA)]
    return pl.DataFrame({"rwbs": letters, "sectors": sectors}).with_columns(events.block_kind())
