"""Block traces as they are posted in bug reports; what is expected is worked out by hand (README.md)."""

from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.inspect import external_trace
from base.errors import FileError

FOLDER = Path(__file__).parent / "inspect"


class Command(NamedTuple):
    """A command as a page shows it; times in ns, `begin` from the first command on."""

    dev: str
    sector: int
    sectors: int
    begin: int
    took: int | None
    comm: str | None


# by file: its commands in the order in which they begin
COMMANDS = {
    # each half ends by itself, and neither with the read that lies in the second
    "trim-whole-device.txt": [
        Command("259:1", 0, 524288, 0, 1_572_000, "fio"),
        Command("259:1", 524288, 524288, 1_000, 1_371_000, "fio"),
        Command("259:1", 524288, 8, 9_000, 78_000, "fio"),
    ],
    # the device has it from its last issue on
    "requeued.txt": [Command("8:0", 4096, 8, 0, 400_000, "postgres")],
    # both legs have the same place, and end in the other order
    "raid1-legs.txt": [
        Command("9:127", 65536, 8, 0, 910_000, "mysqld"),
        Command("8:16", 67584, 8, 8_000, 900_000, "mysqld"),
        Command("8:32", 67584, 8, 9_000, 200_000, "mysqld"),
    ],
    # a read of the same place, long ago, has nothing to do with the write
    "front-merge.txt": [
        Command("179:0", 96, 16, 0, 296_000, "blkid"),
        Command("179:0", 96, 16, 1_000_096_000, 2_000_000, "rsyslogd"),
    ],
    # the read's completion is none of the write, which has none
    "lost-events.txt": [
        Command("65:192", 184067232, 16, 0, None, "writer_1"),
        Command("65:192", 184067248, 8, 90_166_839_000, 250_000, "writer_1"),
    ],
    # the probe of another device, and all stacks, are left out
    "perf-callchain.txt": [Command("8:0", 2048, 16, 0, 250_000, "tmux: server")],
    "ftrace-journal.txt": [
        Command("8:0", 2048, 8, 0, 800_000, "jbd2/sda1-8"),
        Command("8:0", 0, 0, 790_000, 4_000_000, "kworker/1:1H"),
    ],
    # before Linux 6.19 these have no letter of their own
    "write-zeroes.txt": [
        Command("259:0", 4096, 256, 0, 200_000, "mkfs.ext4"),
        Command("259:0", 0, 8, 290_000, 90_000, "mkfs.ext4"),
    ],
    # and since then they have, as has an atomic write
    "zoned.txt": [
        Command("259:3", 524288, 524288, 0, 900_000, "zonectl"),
        Command("259:3", 524288, 128, 1_000_000, 100_000, "f2fs_gc-9"),
        Command("259:3", 1048576, 8, 2_000_000, 70_000, "zonectl"),
        Command("259:3", 2097152, 256, 3_000_000, 400_000, "mkfs.xfs"),
        Command("259:3", 4194304, 32, 4_000_000, 80_000, "postgres"),
    ],
    # blkparse's summary below is no event
    "crypt.txt": [
        Command("253:0", 2048, 8, 0, 1_060_000, "sqlite3"),
        Command("8:0", 36864, 8, 52_000, 1_000_000, "sqlite3"),
    ],
    # the readahead of more sectors ends first, though it began later
    "same-sector-readers.txt": [
        Command("259:0", 1000, 8, 0, 500_000, "cat"),
        Command("259:0", 1000, 64, 10_000, 100_000, "tar"),
    ],
}


def test_each_trace_is_tried() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*COMMANDS, "zvol-queued-only.txt"}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_of_a_posted_trace(name: str) -> None:
    commands = external_trace.read(str(FOLDER / name)).commands.sort("begin_ns")
    first = commands["begin_ns"].min()
    rows = commands.select("dev", "sector", "sectors", "begin_ns", "end_ns", "comm").iter_rows()
    found = [
        Command(dev, sector, sectors, begin - first, None if end is None else end - begin, comm)
        for dev, sector, sectors, begin, end, comm in rows
    ]
    assert found == COMMANDS[name]


def test_a_trace_of_queued_bios_alone_is_refused() -> None:
    """Nothing in it says when a command ended."""
    with pytest.raises(FileError, match="3 queued, 0 completed"):
        external_trace.read(str(FOLDER / "zvol-queued-only.txt"))
