"""Operations and flags of block commands: REQ_OP_* and REQ_* of include/linux/blk_types.h."""

OP, FUA, PREFLUSH = 0xFF, 1 << 17, 1 << 18
READ, WRITE, FLUSH, DISCARD, SECURE_ERASE, WRITE_ZEROES = 0, 1, 2, 3, 5, 9
