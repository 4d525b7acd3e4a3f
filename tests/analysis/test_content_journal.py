"""A jbd2 journal that wraps around: each copy is found, in whatever order the block layer sent it."""

import numpy as np

from analysis.content import blocks, jbd2
from analysis.content.crc import crc32c

UUID = bytes(range(16))
HEAD = (jbd2.MAGIC).to_bytes(4, "big")
# a log of seven blocks after the superblock, from the device's block 100 on
JOURNAL = jbd2.Journal(np.arange(100, 108), frozenset({"journal_checksum_v3", "journal_64bit"}), (UUID,))


def crc(content: bytes, seed: int = 0xFFFFFFFF) -> int:
    return int(crc32c(np.frombuffer(content, np.uint8)[None], seed)[0])


def word(value: int) -> bytes:
    return value.to_bytes(4, "big")


def sealed(page: bytes, place: int) -> bytes:
    """The page with its CRC, computed with zeros there."""
    page = page.ljust(blocks.BLOCK, b"\0")
    return page[:place] + word(crc(page, crc(UUID))) + page[place + 4 :]


def transaction(number: int, first: int, *homes: int) -> dict[int, bytes]:
    """Place in the log → block of a transaction: its descriptor, a copy for each home, its commit."""
    copies = [bytes([number]) * 2048 + bytes([home]) * 2048 for home in homes]
    tags = b""
    for nth, (home, copy) in enumerate(zip(homes, copies, strict=True)):
        check = crc(copy, crc(word(number), crc(UUID)))
        flags = 2 * (nth > 0) | 8 * (nth == len(homes) - 1)
        tags += word(home) + word(flags) + word(0) + word(check) + (UUID if nth == 0 else b"")
    descriptor = sealed(HEAD + word(jbd2.DESCRIPTOR) + word(number) + tags, blocks.BLOCK - 4)
    commit = sealed(HEAD + word(jbd2.COMMIT) + word(number), 16)
    return {(first + nth - 1) % 7 + 1: page for nth, page in enumerate([descriptor, *copies, commit])}


def read(*written: tuple[int, bytes]) -> jbd2.JournalBlocks:
    """What is read from writings (place in the log, block)."""
    data = np.frombuffer(b"".join(page for _, page in written), np.uint8)
    sector = np.array([(100 + place) * blocks.SECTORS for place, _ in written])
    number = np.arange(sector.size)
    log = blocks.Log(number, sector, np.full(sector.size, blocks.SECTORS), number * blocks.BLOCK, data)
    return jbd2.read(blocks.blocks(log)[0], JOURNAL)


def by_sector(made: dict[int, bytes]) -> list[tuple[int, bytes]]:
    """The writings of a transaction as the block layer sorts them, but its commit last."""
    *first, commit = made.items()
    return [*sorted(first), commit]


def test_copies_may_be_sent_before_their_descriptor() -> None:
    # the first and the last wrap around, to the same place
    made = [transaction(1, 5, 31, 32, 33), transaction(2, 3, 34), transaction(3, 6, 35, 36)]
    assert [1 in one for one in made] == [True, False, True]
    written = [pair for one in made for pair in by_sector(one)]
    found = read(*written)
    assert not found.broken.size
    assert sorted(zip(found.commits.tolist(), found.homes.tolist(), strict=True)) == [
        *((1, 31), (1, 32), (1, 33), (2, 34), (3, 35), (3, 36))
    ]
    # also of a transaction whose commit was not sent, or of which not all was
    assert sorted(read(*written[:4]).homes.tolist()) == [31, 32, 33]
    assert sorted(read(*written[1:]).homes.tolist()) == [31, 32, 34, 35, 36]


def test_a_copy_of_other_bytes_is_broken() -> None:
    for place in (1, 6, 7):
        made = transaction(1, 5, 31, 32, 33)
        made[place] = b"x" + made[place][1:]
        assert read(*by_sector(made)).broken.size == 1
