"""The reader of blktrace's files: fields as blkparse's, counts as the device's, damaged files refused."""

import random
import re
import struct
from pathlib import Path

import blkparsed
import numpy as np
import polars as pl
import pytest
import synthetic

from analysis.adapters import blkrecords
from analysis.adapters.partition import Partition
from analysis.checks import counts
from analysis.observers import blktrace
from base.errors import FileError

HERE = Path(__file__).parent
FORMAT = "%c %s %T %t %p %D %a %d %S %n %e\\n"
LETTERS = ("?", "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT", "I", "X")


def lines(records: np.ndarray) -> list[str]:
    """Return records as blkparse prints them with FORMAT; it leaves out notes."""
    records = records[np.argsort(records["time"], kind="stable")]
    records = records[records["action"] & blkrecords.NOTIFY == 0]
    genesis = int(records["time"].min())
    found, codes = [], blkrecords.codes(records["action"], records["bytes"])
    for row, flags in zip(records, blkrecords.words()["rwbs"][codes], strict=True):
        time = int(row["time"]) - genesis
        device = int(row["device"])
        found.append(
            f"{row['cpu']} {row['sequence']} {time // 10**9} {time % 10**9:09d} {row['pid']} "
            f"{device >> 20:3d},{device & 0xFFFFF:<3d} {LETTERS[row['action'] & 0xFF]} "
            f"{flags} {row['sector']} {row['bytes'] // 512} {row['error']}"
        )
    return found


def test_every_field_equals_blkparse() -> None:
    records, _ = blkrecords.read_file(HERE / "blktrace-ext4/nullb0.blktrace.0")
    golden = blkparsed.events((HERE / "blktrace-ext4/blkparse.txt").read_text())
    # blkparse counts sequences itself and pads its device: compare all else
    ours = [line.split() for line in lines(records)]
    theirs = [line.split() for line in golden]
    assert [row[:1] + row[2:] for row in ours] == [row[:1] + row[2:] for row in theirs]


@pytest.mark.parametrize("fs", ["ext4", "f2fs"])
def test_counts_equal_the_device(fs: str) -> None:
    folder = HERE / f"blktrace-{fs}"
    found = blktrace.count(folder, 0, 2**63)
    before, after = (
        dict(zip(synthetic.STAT, map(int, (folder / name).read_text().split()), strict=True))
        for name in ("stat.begin", "stat.end")
    )
    grew = {name: after[name] - before[name] for name in before}
    told = counts.counted(found)
    assert found.devices == ["253:0"]
    assert told["reads"] == grew["read_ios"]
    assert told["writes"] == grew["write_ios"] - found.empty_flushes
    assert told["bytes_written"] == grew["write_sectors"] * 512
    assert told["flushes"] == grew["flush_ios"] > 0
    assert (found.unfinished, found.failed) == (0, 0)


def test_commands_are_those_that_were_counted() -> None:
    folder = HERE / "blktrace-f2fs"
    commands = blktrace.read(folder)
    times = commands["begin_ns"].sort()
    begin, end = int(times[len(times) // 4]), int(times[3 * len(times) // 4])
    inside = commands.filter(pl.col("begin_ns").is_between(begin, end, closed="left"))
    told = counts.count(inside)
    assert counts.counted(blktrace.count(folder, begin, end)) == {k: told[k] for k in counts.FIELDS}
    assert commands["end_ns"].null_count() == 0


def test_commands_in_flight_at_an_edge_are_completed() -> None:
    """Others keep a lab board's disk busy, so its window begins and ends while commands are in flight."""
    folder = HERE / "blktrace-f2fs"
    commands = blktrace.read(folder).sort("begin_ns")
    first, last = commands.row(len(commands) // 4, named=True), commands.row(len(commands) // 2, named=True)
    after = {"early": first["begin_ns"] + 1, "late": last["begin_ns"] + 1}
    for begin, end in ((after["early"], 2**62), (0, after["late"]), (after["early"], after["late"])):
        assert blktrace.count(folder, begin, end).unfinished == 0


def test_a_command_without_its_completion_is_counted(tmp_path: Path) -> None:
    """Also where one that was issued before the window is completed in it."""
    issue, complete = blkrecords.WRITE | blkrecords.ISSUE, blkrecords.WRITE | blkrecords.COMPLETE
    places = [(1, issue, 8), (5, complete, 8), (6, issue, 64)]
    made = [synthetic.record(time, action, sector=place, size=4096) for time, action, place in places]
    write(tmp_path / "sda.blktrace.0", *made)
    assert blktrace.count(tmp_path, 0, 9).unfinished == 1
    shared = Partition(dev=1, disk=2, others=frozenset(), start=0, sectors=2**40)
    assert blktrace.count(tmp_path, 3, 9, shared).unfinished == 1


def test_the_parts_of_one_command_do_not_hide_the_completion_that_another_lacks(tmp_path: Path) -> None:
    issue, complete = blkrecords.WRITE | blkrecords.ISSUE, blkrecords.WRITE | blkrecords.COMPLETE
    places = [(1, issue, 8, 4096), (2, issue, 64, 4096), (3, complete, 8, 1024), (4, complete, 10, 3072)]
    made = [synthetic.record(time, action, sector=place, size=size) for time, action, place, size in places]
    write(tmp_path / "sda.blktrace.0", *made)
    assert blktrace.count(tmp_path, 0, 9).unfinished == 1


def test_a_command_that_a_busy_driver_returned_before_its_issue(tmp_path: Path) -> None:
    """As SD cards' does: such a requeue takes back no issue. One after an issue does."""
    actions = (
        blkrecords.REQUEUE,
        blkrecords.ISSUE,
        blkrecords.REQUEUE,
        blkrecords.ISSUE,
        blkrecords.COMPLETE,
    )
    made = [
        synthetic.record(time, blkrecords.WRITE | action, sector=8, size=4096)
        for time, action in enumerate(actions)
    ]
    write(tmp_path / "sda.blktrace.0", *made)
    found = blktrace.count(tmp_path, 0, 9)
    assert counts.counted(found)["writes"] == 1 and counts.counted(found)["bytes_written"] == 4096
    assert found.unfinished == 0


def test_passthrough_is_not_counted(tmp_path: Path) -> None:
    """As of smartctl: the kernel's counters leave it out."""
    passed = blkrecords.PASSTHROUGH
    made = [
        synthetic.record(1, passed | blkrecords.ISSUE, size=512),
        synthetic.record(2, blkrecords.WRITE | blkrecords.ISSUE, sector=8, size=4096),
        synthetic.record(3, passed | blkrecords.COMPLETE),
        synthetic.record(4, blkrecords.WRITE | blkrecords.COMPLETE, sector=8, size=4096),
    ]
    write(tmp_path / "sda.blktrace.0", *made)
    found = blktrace.count(tmp_path, 0, 9)
    assert counts.counted(found)["reads"] == 0 and counts.counted(found)["writes"] == 1
    assert found.unfinished == 0 and blktrace.read(tmp_path).height == 1


def test_summary_counts_48_bytes_as_an_event() -> None:
    folder = HERE / "blktrace-f2fs"
    assert blktrace.read_summary(folder / "blktrace.out") == (blktrace.events_by_size(folder), 0)


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def test_every_truncation_is_told(tmp_path: Path) -> None:
    data = (HERE / "blktrace-ext4" / "nullb0.blktrace.0").read_bytes()[:4000]
    records, _ = blkrecords.read_file(write(tmp_path / "x", cut := data[: _whole(data)]))
    ends = set(np.cumsum(48 + records["pdu_len"].astype(int)).tolist()) | {0}
    for size in range(len(cut)):
        path = write(tmp_path / "x", cut[:size])
        if size in ends:
            blkrecords.read_file(path)
            continue
        with pytest.raises(FileError, match=rf"byte {max(e for e in ends if e <= size)}: .*short"):
            blkrecords.read_file(path)


def _whole(data: bytes) -> int:
    at = 0
    while at + 48 <= len(data):
        step = 48 + int.from_bytes(data[at + 46 : at + 48], "little")
        if at + step > len(data):
            break
        at += step
    return at


@pytest.mark.parametrize("at", [0, 5])
def test_corruption_names_the_byte(tmp_path: Path, at: int) -> None:
    made = [bytearray(synthetic.record(i, 1, pdu=b"x" * (i % 3))) for i in range(10)]
    offset = sum(map(len, made[:at]))
    made[at][0] ^= 0xFF
    with pytest.raises(FileError, match=rf"x: byte {offset}: the magic number is 0x656174f8"):
        blkrecords.read_file(write(tmp_path / "x", *made))


def test_a_spoiled_file_is_read_or_refused(tmp_path: Path) -> None:
    whole, path = (HERE / "blktrace-ext4/nullb0.blktrace.0").read_bytes(), tmp_path / "nullb0.blktrace.0"
    outcomes = set()
    for seed in range(60):
        draw, data = random.Random(seed), bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        write(path, data[: draw.choice((len(data), draw.randrange(len(data))))])
        try:
            blktrace.count(tmp_path, 0, 2**62)
            blktrace.read(tmp_path)
            outcomes.add("read")
        except FileError as error:
            assert re.fullmatch(rf"{re.escape(str(path))}: byte \d+: [^\n]+; expected [^\n]+", str(error))
            outcomes.add("refused")
    assert len(outcomes) == 2


def second(data: bytes) -> bytes:
    """The records of version 7 in DATA as a kernel writes them in version 8 (struct blk_io_trace2)."""
    made, at = [], 0
    while at < len(data):
        magic, *head, action, pid, device, cpu, error, pdu = struct.unpack_from("<IIQQIIIIIHH", data, at)
        made.append(struct.pack("<IIQQIIQIIHH12x", magic + 1, *head, pid, action, device, cpu, error, pdu))
        made.append(data[at + 48 : at + 48 + pdu])
        at += 48 + pdu
    return b"".join(made)


def test_version_8_says_the_same(tmp_path: Path) -> None:
    first = HERE / "blktrace-ext4/nullb0.blktrace.0"
    path = write(tmp_path / first.name, second(first.read_bytes()))
    records, names = blkrecords.read_file(path)
    expected, expected_names = blkrecords.read_file(first)
    assert (records == expected).all()
    assert names == expected_names
    assert blktrace.read(tmp_path).equals(blktrace.read(first.parent))
    assert b"".join(blkrecords.as_first(path)) == first.read_bytes()
    assert b"".join(blkrecords.as_first(first)) == first.read_bytes()


def test_requeued_command_counts_once(tmp_path: Path) -> None:
    write(
        tmp_path / "d.blktrace.0",
        synthetic.record(10, synthetic.ISSUE | synthetic.WRITE, 8, 4096),
        synthetic.record(11, 6 | 1 << 22 | synthetic.WRITE, 8, 4096),
        synthetic.record(20, synthetic.ISSUE | synthetic.WRITE, 8, 4096),
        synthetic.record(30, synthetic.COMPLETE | synthetic.WRITE, 8, 4096),
    )
    found = blktrace.read(tmp_path)
    assert found.select("begin_ns", "end_ns").rows() == [(20, 30)]


def test_queued_bios_are_writes(tmp_path: Path) -> None:
    """By thread; a read is left out where it was traced, as watch.sh does not ask for it."""
    write(
        tmp_path / "d.blktrace.0",
        synthetic.record(10, synthetic.QUEUE | synthetic.WRITE, 8, 4096),
        synthetic.record(20, synthetic.QUEUE | 1 << 16, 16, 4096),
        synthetic.record(30, synthetic.QUEUE | synthetic.WRITE | synthetic.FLUSH, 0, 0),
        synthetic.record(40, synthetic.ISSUE | synthetic.WRITE, 8, 4096),
    )
    found = blktrace.queued(tmp_path, 0, 100)
    assert found[["time", "sector", "bytes"]].tolist() == [(10, 8, 4096), (30, 0, 0)]


def test_files_of_several_cpus_are_merged(tmp_path: Path) -> None:
    bits = synthetic.WRITE
    write(
        tmp_path / "d.blktrace.0",
        synthetic.record(10, synthetic.ISSUE | bits, 8, 512),
        synthetic.record(30, synthetic.ISSUE | bits, 8, 512),
    )
    write(
        tmp_path / "d.blktrace.1",
        synthetic.record(20, synthetic.COMPLETE | bits, 8, 512),
        synthetic.record(40, synthetic.COMPLETE | bits, 8, 512),
    )
    found = blktrace.read(tmp_path)
    assert found.select("begin_ns", "end_ns").rows() == [(10, 20), (30, 40)]
