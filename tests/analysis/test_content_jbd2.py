"""A journal of each format, as debugfs writes it, and one that wraps around are read: each copy is found."""

import re
import subprocess
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from analysis.content import blocks, jbd2
from analysis.content.crc import crc32c

HOMES = [5000, 5001, 5003, 5010, 6000]
MAGIC = jbd2.MAGIC.to_bytes(4, "big")
WRITTEN = 12  # blocks of the log after its superblock
OWN = bytes(range(16))
# A log of seven blocks after the superblock, from the device's block 100 on
SMALL = jbd2.Journal(np.arange(100, 108), frozenset({"journal_checksum_v3", "journal_64bit"}), (OWN,))


def written(folder: Path, features: str, opened: str) -> tuple[blocks.Blocks, jbd2.Journal]:
    """The blocks of a journal with a transaction of five blocks, of which the second begins with the magic,
    and one that revokes four."""
    image, content = folder / "image", folder / "content"
    content.write_bytes(b"".join(MAGIC + bytes(4092) if n == 1 else bytes([65 + n]) * 4096 for n in range(5)))
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(
        ["mke2fs", "-qF", "-t", "ext4", "-b", "4096", "-J", "size=8", "-O", features, image], check=True
    )
    commands = f"jo {opened}\njw -b {','.join(map(str, HOMES))} {content}\njw -r 7000-7003\njc\n"
    subprocess.run(["debugfs", "-wf", "-", image], input=commands, text=True, check=True, capture_output=True)

    def shown(*command: str) -> str:
        return subprocess.check_output([*command, image], text=True, stderr=subprocess.DEVNULL)

    head = dict(line.split(":", 1) for line in shown("dumpe2fs", "-h").splitlines() if ":" in line)
    extents = re.findall(r":([0-9]+)-([0-9]+)", shown("debugfs", "-R", "stat <8>"))
    places = np.concatenate([np.arange(int(first), int(last) + 1) for first, last in extents])
    device = np.frombuffer(image.read_bytes(), np.uint8).reshape(-1, 4096)
    number = np.arange(WRITTEN)
    log = blocks.Log(
        number, places[number + 1] * 8, np.full(WRITTEN, 8), number * 4096, device[places[number + 1]].ravel()
    )
    uuids = UUID(head["Filesystem UUID"].strip()).bytes, bytes(16)
    return blocks.blocks(log)[0], jbd2.Journal(places, frozenset(head["Journal features"].split()), uuids)


@pytest.mark.parametrize("wide", ["64bit", "^64bit"])
@pytest.mark.parametrize("checksum", ["", "checksum", "checksum_v2", "checksum_v3"])
def test_the_copies_of_a_journal_have_their_homes(wide: str, checksum: str, tmp_path: Path) -> None:
    metadata = "metadata_csum" if checksum.endswith(("v2", "v3")) else "^metadata_csum"
    opened = {"": "", "checksum": "-c -v 2", "checksum_v2": "-c -v 2", "checksum_v3": "-c"}[checksum]
    made, journal = written(tmp_path, f"{wide},{metadata}", opened)
    assert {name.removeprefix("journal_") for name in journal.features} & {
        "checksum",
        "checksum_v2",
        "checksum_v3",
    } == ({checksum} - {""})
    read = jbd2.read(made, journal)
    assert read.kinds.tolist() == [jbd2.DESCRIPTOR, jbd2.COMMIT, jbd2.REVOKE, jbd2.COMMIT]
    assert read.numbers.tolist() == [1, 1, 2, 2]
    assert read.homes.tolist() == HOMES and not read.broken.size
    assert read.escaped.tolist() == [False, True, False, False, False]


def crc(content: bytes, seed: int = 0xFFFFFFFF) -> int:
    return int(crc32c(np.frombuffer(content, np.uint8)[None], seed)[0])


def word(value: int) -> bytes:
    return value.to_bytes(4, "big")


def sealed(page: bytes, place: int) -> bytes:
    """The page with its CRC, computed with zeros there."""
    page = page.ljust(blocks.BLOCK, b"\0")
    return page[:place] + word(crc(page, crc(OWN))) + page[place + 4 :]


def transaction(number: int, first: int, *homes: int) -> dict[int, bytes]:
    """Place in the log → block of a transaction: its descriptor, a copy for each home, its commit."""
    copies = [bytes([number]) * 2048 + bytes([home]) * 2048 for home in homes]
    tags = b""
    for nth, (home, copy) in enumerate(zip(homes, copies, strict=True)):
        check = crc(copy, crc(word(number), crc(OWN)))
        flags = 2 * (nth > 0) | 8 * (nth == len(homes) - 1)
        tags += word(home) + word(flags) + word(0) + word(check) + (OWN if nth == 0 else b"")
    descriptor = sealed(MAGIC + word(jbd2.DESCRIPTOR) + word(number) + tags, blocks.BLOCK - 4)
    commit = sealed(MAGIC + word(jbd2.COMMIT) + word(number), 16)
    return {(first + nth - 1) % 7 + 1: page for nth, page in enumerate([descriptor, *copies, commit])}


def read(*written: tuple[int, bytes]) -> jbd2.JournalBlocks:
    """What is read from writings (place in the log, block)."""
    data = np.frombuffer(b"".join(page for _, page in written), np.uint8)
    sector = np.array([(100 + place) * blocks.SECTORS for place, _ in written])
    number = np.arange(sector.size)
    log = blocks.Log(number, sector, np.full(sector.size, blocks.SECTORS), number * blocks.BLOCK, data)
    return jbd2.read(blocks.blocks(log)[0], SMALL)


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
