"""The adapter of raw/probes.bin: what it makes of each record, and what it refuses."""

import re
import struct
from pathlib import Path
from typing import Any

import pytest
from synthetic import name_records, probe_record, probes_bin

from analysis.observers import probes
from base.errors import FileError
from model import filesystems
from model.block_operations import rwbs

FIRST, LAST = probe_record("attached", 5, n=9, tid=0, dev=0), probe_record("detached", 99, tid=0, dev=0)


def write(path: Path, *rows: tuple[Any, ...]) -> Path:
    path.write_bytes(probes_bin([FIRST, *rows, LAST]))
    return path


def comm(tid: int, name: bytes, time: int = 10) -> tuple[Any, ...]:
    a, b = struct.unpack("<QQ", name.ljust(16, b"\0"))
    return probe_record("comm", time, n=tid, tid=tid, dev=0, a=a, b=b)


def test_each_event(tmp_path: Path) -> None:
    rows = [
        comm(7, b"driver"),
        *name_records("s.db-wal", 20, 12),
        probe_record("sync", 10, 20, tid=7, flags=2 << 4 | 1, n=2**32 - 5, a=12, b=77),
        probe_record("block", 11, 14, tid=7, n=8, a=4096, b=1 | 1 << 11, flags=10),
        probe_record("flush", 15, 16, tid=7),
        probe_record("commit", 11, 19, flags=1, n=3, a=42),
        probe_record("checkpoint", 30, 31, n=0x21),
        probe_record("checkpoint", 32, 33, n=0x28),
        probe_record("writeback", 40, 41, tid=7, flags=2, n=2**32 - 1),
        probe_record("writeback", 42, 43, tid=8, flags=99, n=6),
        probe_record("off_cpu", 44, 45, tid=7, dev=0),
    ]
    found, losses = probes.read(
        write(tmp_path / "probes.bin", *rows), filesystems.by_name("f2fs").checkpoint_reasons
    )
    assert losses == probes.Losses(0, 0)
    columns = ("event", "begin_ns", "end_ns", "tid", "comm", "dev", "pages", "result", "reason")
    assert found.select(columns).rows() == [
        ("attached", 5, 5, None, None, None, None, None, None),
        ("sync", 10, 20, 7, "driver", "253:0", None, -5, "fdatasync"),
        ("block", 11, 14, 7, "driver", "253:0", None, 10, None),
        ("commit", 11, 19, 42, None, "253:0", 3, 1, None),
        ("flush", 15, 16, 7, "driver", "253:0", None, None, None),
        ("checkpoint", 30, 31, 77, None, "253:0", None, None, "umount, trimmed"),
        ("checkpoint", 32, 33, 77, None, "253:0", None, None, "recovery, trimmed"),
        ("writeback", 40, 41, 7, "driver", "253:0", -1, None, "sync"),
        ("writeback", 42, 43, 8, None, "253:0", 6, None, "unknown"),
        ("detached", 99, 99, None, None, None, None, None, None),
    ]
    block = found.filter(found["event"] == "block").row(0, named=True)
    assert (block["sector"], block["sectors"], block["rwbs"]) == (4096, 8, "WS")
    sync = found.filter(found["event"] == "sync").row(0, named=True)
    assert (sync["inode"], sync["file"], sync["datasync"], sync["is_directory"]) == (
        12,
        "s.db-wal",
        True,
        False,
    )


def test_losses_are_the_last_record(tmp_path: Path) -> None:
    path = tmp_path / "probes.bin"
    path.write_bytes(probes_bin([FIRST, probe_record("detached", 9, n=4, a=2)]))
    assert probes.read(path)[1] == probes.Losses(4, 2)


LONG = "ä\t" * 40 + ".db"  # more than one record's bytes, and characters across their edges


def test_names(tmp_path: Path) -> None:
    """A name is in parts; another file with the inode of a deleted one has its own."""
    sync = [probe_record("sync", time, time, a=12) for time in (20, 30, 40)]
    rows = [sync[0], *name_records(LONG, 30, 12), sync[1], *name_records("b", 40, 12), sync[2]]
    found, _ = probes.read(write(tmp_path / "probes.bin", *rows))
    assert found.filter(found["event"] == "sync")["file"].to_list() == [None, LONG, "b"]


@pytest.mark.parametrize(
    ("opf", "letters"),
    [
        (2 | 1 << 18, "FF"),
        (1 | 1 << 11, "WS"),
        (1 | 1 << 11 | 1 << 12 | 1 << 17, "WFSM"),
        (1 | 1 << 11 | 1 << 18, "FWS"),
        (5, "DE"),
        (9, "N"),
    ],
)
def test_letters_of_an_operation(opf: int, letters: str) -> None:
    assert rwbs(opf) == letters


GOOD = probes_bin([FIRST, probe_record("pages", 20), LAST])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "byte 0: a header of 0 bytes; expected 64 bytes"),
        (b"block 1 2\n" * 20, "byte 0: magic is b'block 1 '; expected b'CPPROBE1'"),
        (GOOD[:8] + b"\x30" + GOOD[9:], "byte 8: record_size is 48; expected 64"),
        (GOOD[:-1], "byte 192: a record of 63 bytes; expected 64 bytes"),
        (GOOD[:-64], "byte 192: it ends without a record 'detached'"),
        (probes_bin([FIRST, LAST, LAST]), "byte 128: a second 'attached' or 'detached'"),
        (GOOD[:144] + b"\x11" + GOOD[145:], "byte 144: type is 17; expected 1 to 16"),
        (GOOD[:128] + b"\x15" + GOOD[129:], "byte 128: begin_ns is 21; expected no more than end_ns"),
        (GOOD[:143] + b"\x40" + GOOD[144:], "byte 136: end_ns is 4611686018427387924; expected less than"),
        (
            GOOD[:146] + b"\x06" + GOOD[147:],
            "byte 146: flags is 6; expected less than 6 of a record of pages",
        ),
    ],
)
def test_bad_input_is_one_line(data: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "probes.bin"
    path.write_bytes(data)
    with pytest.raises(FileError, match=re.escape(f"{path}: {says}")) as error:
        probes.read(path)
    assert "\n" not in str(error.value)


def test_passthrough_has_no_place_and_is_left_out(tmp_path: Path) -> None:
    """As a card reader's test for a medium, on any disk of the board."""
    passed = probe_record("block", 11, 14, n=0, a=2**64 - 1, b=34)
    kept = probe_record("block", 12, 15, n=8, a=64, b=1)
    found, _ = probes.read(write(tmp_path / "probes.bin", passed, kept))
    assert found.filter(found["event"] == "block")["sector"].to_list() == [64]
    # nothing else has no place
    with pytest.raises(FileError, match=r"a is 18446744073709551615"):
        probes.read(write(tmp_path / "probes.bin", passed, probe_record("block", 12, 15, a=2**64 - 1, b=1)))
