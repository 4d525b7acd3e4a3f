"""A snapshot's memory is known by its bytes, however a copy of it lies on the disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from images.snapshot import BLOCK, content_hash

PAGE = 4096
# Pages with data: alone in a block, at both sides of a block's end, beside a page of zeros, the last.
PAGES = (0, 3, 15, 16, 17, 40, 42, 1024, 4999)
SIZE = 5000 * PAGE + 100


def page(number: int) -> bytes:
    """A page that is like no other."""
    return number.to_bytes(4, "big") * (PAGE // 4)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A sparse file."""
    path = tmp_path / "ram"
    with path.open("wb") as file:
        file.truncate(SIZE)
        for number in PAGES:
            file.seek(number * PAGE)
            file.write(page(number + 1))
    return path


def in_blocks(size: int) -> Callable[[Path, Path], None]:
    """A copy on a filesystem with blocks of this size: where one has data, its zeros are written."""

    def copy(old: Path, new: Path) -> None:
        content = old.read_bytes()
        with new.open("wb") as file:
            file.truncate(len(content))
            for start in range(0, len(content), size):
                part = content[start : start + size]
                if part.strip(b"\0"):
                    file.seek(start)
                    file.write(part)

    return copy


COPIES = {
    "no hole": in_blocks(SIZE),
    "blocks of 512": in_blocks(512),
    "blocks of 1 MiB": in_blocks(1 << 20),
    "blocks that are not aligned": in_blocks(BLOCK - 512),
}


@pytest.mark.parametrize("how", COPIES)
def test_equal_bytes_are_equal(how: str, memory: Path, tmp_path: Path) -> None:
    new = tmp_path / "copy"
    COPIES[how](memory, new)
    assert new.read_bytes() == memory.read_bytes()
    assert content_hash(new) == content_hash(memory)


def test_the_copies_lie_otherwise(memory: Path, tmp_path: Path) -> None:
    """Else the test above compares a file with itself."""
    COPIES["no hole"](memory, tmp_path / "full")
    assert (tmp_path / "full").stat().st_blocks * 512 >= SIZE > 10 * memory.stat().st_blocks * 512


@pytest.mark.parametrize("number", [0, 15, 42, 4999, 1, 2000])
def test_another_byte_is_not(number: int, memory: Path) -> None:
    before = content_hash(memory)
    with memory.open("r+b") as file:
        file.seek(number * PAGE + PAGE - 1)
        file.write(b"\xff")
    assert content_hash(memory) != before
