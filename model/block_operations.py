"""Numbers of block operations and flags (REQ_OP_*, REQ_* of blk_types.h), and their letters (rwbs)."""

OP, FUA, PREFLUSH = 0xFF, 1 << 17, 1 << 18
READ, WRITE, FLUSH, DISCARD, SECURE_ERASE, WRITE_ZEROES = 0, 1, 2, 3, 5, 9
PASSTHROUGH = (34, 35)  # DRV_IN, DRV_OUT
_LETTERS = {READ: "R", WRITE: "W", FLUSH: "F", DISCARD: "D", SECURE_ERASE: "DE"}
_AFTER = ((FUA, "F"), (1 << 19, "A"), (1 << 11, "S"), (1 << 12, "M"))  # readahead, sync, metadata


def rwbs(flags: int) -> str:
    """Return an operation with its flags in the letters of the kernel's blk_fill_rwbs."""
    before = "F" if flags & PREFLUSH else ""
    return before + _LETTERS.get(flags & OP, "N") + "".join(letter for bit, letter in _AFTER if flags & bit)
