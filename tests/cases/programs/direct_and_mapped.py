"""Append records to a log past the page cache, and change an index that is mapped: ten of each, synced."""

import errno
import mmap
import os
from pathlib import Path

RECORD = 4096
page = mmap.mmap(-1, RECORD)  # aligned, as O_DIRECT asks for
flags = os.O_WRONLY | os.O_CREAT | os.O_DSYNC
try:
    log = os.open("log", flags | os.O_DIRECT, 0o644)
except OSError as error:  # a filesystem without it, as tmpfs was
    assert error.errno == errno.EINVAL
    log = os.open("log", flags, 0o644)
index = os.open("index", os.O_RDWR | os.O_CREAT, 0o644)
os.ftruncate(index, 10 * RECORD)
with mmap.mmap(index, 10 * RECORD) as mapped:
    for number in range(10):
        page[:8] = number.to_bytes(8, "little")
        assert os.pwrite(log, page, number * RECORD) == RECORD
        mapped[number * RECORD] = number + 1
        mapped.flush(number * RECORD, RECORD)
os.fdatasync(index)
print(Path("log").stat().st_size // RECORD, "records")
