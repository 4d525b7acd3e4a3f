"""Persistent memory: whose boards have it, what their device tree says, and what is refused."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from base.data import load_yaml
from base.errors import BadInputError, LabError
from commitpath.boards.payload import BOARD, WRITTEN, cell_env
from commitpath.cells import persistent_memory
from commitpath.cells.from_variables import make_cell
from images import devicetree, given
from images.given import Found

PCM = {"ENGINE": "ssl", "LOG_MEDIUM": "pcm"}
MIB = 2**20
NOWHERE = Path("nowhere")


def packed(text: str) -> bytes:
    content = text.encode() + b"\0"
    return content.ljust(-(-len(content) // 4) * 4, b"\0")


def tree(nodes: bytes, names: bytes = b"reg\0", reserved: bytes = bytes(16)) -> bytes:
    """A device tree as QEMU dumps it: with room behind each part."""
    at = 40 + len(reserved)
    header = (0xD00DFEED, 4096, at, at + len(nodes) + 8, 40, 17, 16, 0, len(names), len(nodes))
    return (struct.pack(">10I", *header) + reserved + nodes + bytes(8) + names).ljust(4096, b"\0")


def node(name: str, *inside: bytes) -> bytes:
    return struct.pack(">I", 1) + packed(name) + b"".join(inside) + struct.pack(">I", 2)


OWN = node("", node("chosen", struct.pack(">3I", 3, 4, 0) + b"\0\0\0\1"), node("pl011@9000000"))


def values(made: bytes) -> Iterator[tuple[str, str, bytes]]:
    """(node, property, value) of a tree."""
    magic, total, at, names_at, _, _, _, _, names_size, size = struct.unpack_from(">10I", made)
    assert (magic, total) == (0xD00DFEED, len(made)) and at + size <= names_at and at % 4 == 0
    end, within = at + size, []
    names = made[names_at : names_at + names_size]
    while at < end:
        (token,) = struct.unpack_from(">I", made, at)
        at += 4
        if token == 1:
            within.append(made[at:].partition(b"\0")[0].decode())
            at += len(packed(within[-1]))
        elif token == 2:
            within.pop()
        elif token == 3:
            length, name = struct.unpack_from(">2I", made, at)
            yield within[-1], names[name:].partition(b"\0")[0].decode(), made[at + 8 : at + 8 + length]
            at += 8 + -(-length // 4) * 4
    assert token == 9 and not within


def test_the_kernel_is_told_of_it() -> None:
    made = devicetree.with_persistent_memory(tree(OWN + struct.pack(">I", 9)), 1 << 30, 1536 * MIB, 64 * MIB)
    assert list(values(made)) == [
        ("chosen", "linux,usable-memory-range", struct.pack(">2Q", 1 << 30, 1536 * MIB)),
        ("chosen", "reg", b"\0\0\0\1"),
        ("persistent-memory@a0000000", "compatible", b"pmem-region\0"),
        ("persistent-memory@a0000000", "reg", struct.pack(">2Q", 0xA0000000, 64 * MIB)),
    ]


@pytest.mark.parametrize(
    ("given_tree", "wrong"),
    [
        (bytes(4096), "no header"),
        (tree(OWN), "not as expected"),
        (tree(OWN + struct.pack(">I", 9), reserved=struct.pack(">4Q", 1, 1, 0, 0)), "not as expected"),
    ],
)
def test_a_tree_that_is_another_is_refused(given_tree: bytes, wrong: str) -> None:
    with pytest.raises(LabError, match=wrong):
        devicetree.with_persistent_memory(given_tree, 1 << 30, MIB, MIB)


def test_the_driver_is_told_where() -> None:
    for variables, told in (({"ENGINE": "ssl"}, False), (PCM, True)):
        env = cell_env(make_cell(variables), "/mnt/target/db/sample.db")
        assert (f"--persistent-memory {persistent_memory.MOUNTPOINT}" in env) == told


def test_a_run_whose_cuts_are_told_by_its_calls_notes_them() -> None:
    """And so does its board of trials, which notes what was stored, too."""
    cut = {**PCM, "CRASH": "power", "DEVICE": "emmc-5.0"}
    for variables, noted in ((PCM, False), (cut, True), (cut | {"LOG_MEDIUM": "msync"}, False)):
        cell = make_cell(variables)
        env = cell_env(cell, "/mnt/target/db/sample.db")
        options = next(line for line in env.splitlines() if line.startswith("DRIVER_OPTIONS="))
        assert ("--vfs-log" in options) == noted
        if noted:
            of_trials = cell_env(cell, "/mnt/target/db/sample.db", trials=True)
            assert f"--vfs-log --written {BOARD}/{WRITTEN}" in of_trials


@pytest.mark.parametrize(
    ("variables", "wrong"),
    [
        ({**PCM, "PCM_LINE": "24"}, "PCM_LINE=24: PCM_LINE is 4, 8, 16, 32, 64"),
        ({**PCM, "PCM_WRITE_NS": "1000001"}, "PCM_WRITE_NS is a whole number from 0 to 1000000"),
        (
            {"ENGINE": "ssl", "PCM_LINE": "32"},
            "PCM_LINE=32: without effect with LOG_MEDIUM=fdatasync; use LOG_MEDIUM=pcm",
        ),
        (
            {**PCM, "BOARD": "pi", "DEVICE": "own"},
            "LOG_MEDIUM=pcm: BOARD=pi has no persistent memory; only the virtual board has",
        ),
    ],
)
def test_what_cannot_be_is_one_line(variables: dict[str, str], wrong: str) -> None:
    with pytest.raises(BadInputError) as error:
        make_cell(variables)
    assert wrong in str(error.value) and "\n" not in str(error.value)


def test_a_kernel_without_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = {"description": "k", "release": "6.12.1", "tree": "1" * 64}
    options = (*load_yaml(given.OPTIONS)["board"], "BLK_DEV_NULL_BLK", "FS_DAX", "ARM64_PMEM")
    config = "".join(f"CONFIG_{option}=y\n" for option in options)
    found = Found("k", "6.12.1", "1" * 64, config, None)
    monkeypatch.setitem(given._SEEN, "1" * 64, (found, NOWHERE))
    monkeypatch.setattr(given, "look", lambda *_: ("tree:111111111111", kernel))
    with pytest.raises(BadInputError, match=r"lacks CONFIG_OF_PMEM, CONFIG_BLK_DEV_PMEM for LOG_MEDIUM=pcm$"):
        make_cell({**PCM, "KERNEL": "tree:linux", "PROBES": "none"})
