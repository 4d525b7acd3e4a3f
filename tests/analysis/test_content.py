"""The observer `content`, which keeps the bytes written: its file is read, faults named, probes compared."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zstandard

from analysis import checks
from analysis.checks import cross_check
from analysis.observers import Content, Given, content
from analysis.observers.content import HEADER, MAGIC, NOT_KEPT, PUT_BACK, RECORD
from analysis.report import manifest
from analysis.run import Run
from base.errors import FileError
from model.block_operations import DISCARD, FLUSH, FUA, WRITE

SAMPLES = Path(__file__).parent / "samples"
# time_ns, sector, sectors, flags of commands; a write's data are its number
COMMANDS = [
    (100, 8, 2, WRITE),
    (200, 0, 0, FLUSH),
    (300, 64, 1, WRITE | FUA),
    (300, 4096, 8, DISCARD),
    (500, 8, 1, WRITE),
]


def made(commands: list[tuple[int, int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Header, records and data as the module writes them."""
    records, begin = np.zeros(len(commands), RECORD), 0
    data = [np.empty(0, np.uint8)]
    for number, (time, sector, sectors, flags) in enumerate(commands):
        is_data = flags & 0xFF == WRITE and sectors and not flags & PUT_BACK
        records[number] = (time, sector, begin if is_data else NOT_KEPT, sectors * 512, flags, number)
        if is_data:
            data.append(np.full(sectors * 512, number, np.uint8))
            begin += sectors * 512
    header = np.zeros(1, HEADER)
    values = (np.void(MAGIC), HEADER.itemsize, RECORD.itemsize, len(commands), begin, 0, 0)
    for name, value in zip(HEADER.names or (), values, strict=True):
        header[name] = value
    return header, records, np.concatenate(data)


def write(path: Path, *parts: np.ndarray) -> Path:
    path.write_bytes(zstandard.compress(b"".join(part.tobytes() for part in parts)))
    return path


def test_it_is_read(tmp_path: Path) -> None:
    found, records, lost = content.read(write(tmp_path / "content.zst", *made(COMMANDS)))
    assert (records, lost, found.unkept) == (5, 0, 0)
    assert found.time.tolist() == [100, 200, 300, 300, 500]
    assert found.sector.tolist() == [8, 0, 64, 4096, 8]
    assert found.sectors.tolist() == [2, 0, 1, 8, 1]
    assert found.flags.tolist() == [WRITE, FLUSH, WRITE | FUA, DISCARD, WRITE]
    assert found.begin.tolist() == [0, -1, 1024, -1, 1536]
    assert found.data.size == 2048 and (found.data[1024:1536] == 2).all()
    inside = found.within(200, 500)
    assert inside.sector.tolist() == [0, 64, 4096] and inside.data is found.data


def test_a_command_that_was_put_back_counts_once(tmp_path: Path) -> None:
    """Of two issues of one request, the first ended in the driver's hands."""
    put_back = (150, 8, 2, WRITE | PUT_BACK)
    path = write(tmp_path / "content.zst", *made([COMMANDS[0], put_back, (180, 8, 2, WRITE), *COMMANDS[1:]]))
    found, records, _ = content.read(path)
    assert records == 7 and found.time.tolist() == [180, 200, 300, 300, 500]
    assert (found.data[found.begin[0] :][:1024] == 2).all()
    write(path, *made([put_back, *COMMANDS[1:]]))
    with pytest.raises(FileError, match=r"byte 76: flags is 2147483649; expected an earlier issue"):
        content.read(path)


def test_of_many_that_were_put_back_each_takes_its_own(tmp_path: Path) -> None:
    """As one by one."""
    chosen = random.Random(1)
    commands, opened, served = [], [], []
    for time in range(250):
        if opened and chosen.random() < 0.4:
            kind = chosen.choice(opened)[0]
            last = max(at for at, one in enumerate(opened) if one[0] == kind)
            served.remove(opened.pop(last)[1])
            commands.append((time, *kind[:2], kind[2] | PUT_BACK))
        else:
            kind = (8 * chosen.randrange(4), 2, chosen.choice((WRITE, WRITE | FUA)))
            opened.append((kind, time))
            served.append(time)
            commands.append((time, *kind))
    found, _, _ = content.read(write(tmp_path / "content.zst", *made(commands)))
    assert len(served) > 20 and found.time.tolist() == served


def test_what_found_no_room_is_said(tmp_path: Path) -> None:
    header, records, data = made(COMMANDS)
    records["begin"][4], header["unkept"], header["data_bytes"], header["lost"] = NOT_KEPT, 1, 1536, 3
    write(tmp_path / "content.zst", header, records, data[:1536])
    seen = content.OBSERVER.read(Given(tmp_path, (0, 1000)))
    assert seen.losses == ["content lost 3 commands: it had no room for more records"] and seen.lost == 3
    assert seen.numbers == {"records": 5, "bytes": 1536, "unkept": 1}
    assert seen.content and seen.content.begin.tolist() == [0, -1, 1024, -1, -1]
    assert content.OBSERVER.read(Given(tmp_path / "nowhere", (0, 1))).missing == ["raw/content.zst"]


Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def head(name: str, value: object) -> Callable[[Parts], None]:
    def spoil(parts: Parts) -> None:
        parts[0][name] = value

    return spoil


def record(row: int, name: str, value: int) -> Callable[[Parts], None]:
    def spoil(parts: Parts) -> None:
        parts[1][name][row] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (head("magic", np.void(b"CPFLASH1")), "byte 0: magic is b'CPFLASH1'; expected b'CPCONT"),
        (head("header_bytes", 40), "byte 8: header_bytes is 40; expected 48"),
        (head("records", 2**60), "byte 16: records is 1152921504606846976; expected 2097152 at most"),
        (head("records", 6), "byte 248: time_ns is 0; expected no earlier"),
        (head("data_bytes", 1024), "byte 24: data_bytes is 1024; expected 2048"),
        (head("unkept", 1), "byte 32: unkept is 1; expected 0"),
        (record(2, "sector", 2**40), "byte 136: sector is 1099511627776; expected less"),
        (record(2, "begin", 1000), "byte 144: begin is 1000; expected the end of the data before"),
        (record(2, "bytes", 511), "byte 152: bytes is 511; expected whole sectors"),
        (record(2, "flags", 0), "byte 156: flags is 0; expected an operation"),
        (record(2, "serial", 7), "byte 160: serial is 7; expected the number of records before"),
    ],
)
def test_a_field_that_is_wrong_is_named(spoil: Callable[[Parts], None], said: str, tmp_path: Path) -> None:
    parts = made(COMMANDS)
    spoil(parts)
    with pytest.raises(FileError, match=said):
        content.read(write(tmp_path / "content.zst", *parts))


@pytest.mark.parametrize("at", [0, 48, 100, 2000])
def test_one_that_is_cut_short_is_refused(at: int, tmp_path: Path) -> None:
    whole = b"".join(part.tobytes() for part in made(COMMANDS))
    (tmp_path / "content.zst").write_bytes(zstandard.compress(whole[:at]))
    with pytest.raises(FileError, match=f"byte {at}: it is cut short"):
        content.read(tmp_path / "content.zst")


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in SAMPLES.glob("*.tar.xz")))
def test_each_recorded_run_holds(name: str, built_run: Callable[[str], Run]) -> None:
    run = built_run(f"samples/{name}")
    assert checks.reasons(run) == []
    kept = run.contents["content"]
    is_write = kept.flags & 0xFF == WRITE
    assert (kept.begin >= 0).sum() == (is_write & (kept.sectors > 0)).sum() > 50
    assert kept.data.size == kept.sectors[is_write].sum() * 512
    assert manifest.build(run)["probes"]["content_unkept"] == 0


Spoil = Callable[[Content], Content]


def lose(kept: Content) -> Content:
    """One command in the middle of the window."""
    middle = kept.time.size // 2
    columns = ("time", "sector", "sectors", "flags", "begin")
    return replace(kept, **{name: np.delete(getattr(kept, name), middle) for name in columns})


def change(name: str, by: int) -> Spoil:
    def spoil(kept: Content) -> Content:
        column = getattr(kept, name).copy()
        column[kept.time.size // 2] += by
        return replace(kept, **{name: column})

    return spoil


def exchange(kept: Content) -> Content:
    """Two commands that follow each other, but for their times."""
    order = np.arange(kept.time.size)
    middle = order.size // 2
    assert kept.sector[middle] != kept.sector[middle + 1]
    order[[middle, middle + 1]] = middle + 1, middle
    return replace(kept, **{name: getattr(kept, name)[order] for name in ("sector", "sectors", "flags")})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lose, "commands except reads, content kept"),
        (change("sector", 8), "ledger: 1 commands differ from those that content kept: first at"),
        (change("flags", FUA), "ledger: 1 commands differ from those that content kept: first at"),
        (change("time", 6_000_000), "ledger: 1 commands differ from those that content kept: first at"),
        (exchange, "ledger: 2 commands differ from those that content kept: first at"),
    ],
)
def test_other_commands_than_the_probes_saw_are_rejected(
    spoil: Spoil, said: str, built_run: Callable[[str], Run]
) -> None:
    run = built_run("samples/ext4-ordered-delete")
    seen = replace(run.seen["content"], content=spoil(run.contents["content"]))
    run = replace(run, seen={**run.seen, "content": seen})
    found = cross_check.ledger_agrees(run)
    assert len(found) == 1 and said in found[0]
