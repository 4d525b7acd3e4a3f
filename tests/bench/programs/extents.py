"""A file of many extents whose extent-tree block lands where a file of this run had been."""

import os
from pathlib import Path


def write(name, data, flags=0):
    fd = os.open(name, os.O_CREAT | os.O_WRONLY | flags, 0o644)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


for turn in range(40):
    write(f"short{turn}", b"s" * 4096)
    write("long", b"l" * 4096, os.O_APPEND)
    Path(f"short{turn}").unlink()
