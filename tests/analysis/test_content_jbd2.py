"""A journal of each format is read as e2fsprogs writes it: debugfs commits blocks to one."""

import re
import subprocess
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from analysis.content import blocks, jbd2

HOMES = [5000, 5001, 5003, 5010, 6000]
MAGIC = jbd2.MAGIC.to_bytes(4, "big")
WRITTEN = 12  # blocks of the log after its superblock


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
