"""Sectors of a recovered file that the engine never wrote are counted, and no others, under ASan and UBSan.

By workloads/written.c and trials/bytes.c.
"""

import os
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Driver, binary, of_parts, ok

HEADER, NAME, LIFE = 24, 512, 16


@pytest.fixture(scope="module")
def program() -> Path:
    return of_parts("bytes", "written.c", "trials/bytes.c", "fail.c", "grow.c", "output.c")


@pytest.fixture
def script(program: Path, tmp_path: Path) -> Callable[[str], str]:
    """Run lines, in which @ is a file, and = what is saved."""

    def run(lines: str) -> str:
        text = lines.replace("@", str(tmp_path / "file")).replace("=", str(tmp_path / "written"))
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run


def nobody(tmp_path: Path) -> None:
    """Make the lives those of no file that is there: the filesystem does not say who a file is."""
    saved = tmp_path / "written"
    data = bytearray(saved.read_bytes())
    _, names, lives, _ = struct.unpack_from("<QIIQ", data)
    for number in range(lives):
        struct.pack_into("<Q", data, HEADER + NAME * names + LIFE * number, 0)
    saved.write_bytes(data)


def damage(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


@pytest.mark.parametrize("sync", ["off", "full"])
@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "wal", "memory", "off"])
def test_what_sqlite_leaves_is_what_it_wrote(
    driver: Any, script: Callable[[str], str], tmp_path: Path, mode: str, sync: str
) -> None:
    driver.populate()
    driver.run_ok("--written", tmp_path / "written", mode=mode, synchronous=sync)
    assert script("look =\n") == "1 0 0"
    database = tmp_path / "sample.db"
    last = database.stat().st_size - 4096
    damage(database, last, b"Z" * 4096)
    assert script("look =\n") == "1 0 8"
    damage(database, last, bytes(1024))
    assert script("look =\n") == "1 2 6"


@pytest.mark.parametrize("engine", ["leveldb", "lmdb", "rocksdb"])
def test_what_a_store_leaves_is_what_it_wrote(
    engine: str, script: Callable[[str], str], tmp_path: Path
) -> None:
    """LMDB writes a part of its meta page: the rest of the sector is from before."""
    driver = Driver(binary(f"engine-{engine}"), tmp_path)
    rows = ["--database", driver.database, "--rows", 50]
    assert driver("populate", *rows).returncode == 0
    run = ["run", *rows, "--n", 30, "--output-dir", driver.output, "--written", tmp_path / "written"]
    ok(driver(*run, *(() if engine == "lmdb" else ("--sync", "off", "--record-opening"))))
    assert script("look =\n") == "1 0 0"
    first = Path((tmp_path / "written").read_bytes()[HEADER:][:NAME].rstrip(b"\0").decode())
    first.touch()  # it may be gone since
    damage(first, 0, b"Z" * 512)
    assert script("look =\n") == "1 0 1"


def test_a_run_that_records_its_opening_alone(tmp_path: Path) -> None:
    """It leaves no record: of its transactions there is none."""
    driver = Driver(binary("engine-leveldb"), tmp_path)
    rows = ["--database", driver.database, "--rows", 50]
    assert driver("populate", *rows).returncode == 0
    run = ["run", *rows, "--n", 3, "--sync", "off", "--output-dir", driver.output, "--record-opening"]
    assert driver(*run).returncode == 0
    assert [path.name for path in tmp_path.iterdir() if "written" in path.name] == []


FIRST = "open @\nwrite @ 0 1024 1\nwrite @ 1024 700 2\n"


def test_parts_of_sectors(script: Callable[[str], str], tmp_path: Path) -> None:
    """A sector may be what it was after any write, and a part of one at the end is not looked at."""
    lines = FIRST + "write @ 1300 4 3\nwrite @ 1724 324 4\nsave =\n"
    assert script(lines + "look =\n") == "1 0 0"
    file = tmp_path / "file"
    damage(file, 1300, b"\2\2\2\2")  # as before the second write
    assert script("look =\n") == "1 0 0"
    damage(file, 1724, bytes(324))  # as it was before it grew
    assert script("look =\n") == "1 0 0"
    damage(file, 1300, b"\2\3\3\3")
    assert script("look =\n") == "1 0 1"
    os.truncate(file, 1500)
    assert script("look =\n") == "1 0 0"
    os.truncate(file, 0)
    assert script("look =\n") == "1 0 0"
    file.unlink()
    assert script("look =\n") == "1 0 0"


@pytest.mark.parametrize("first", ["write @ 0 700 1\n", ""])
def test_a_truncation_extends_the_file_by_zeros(
    script: Callable[[str], str], tmp_path: Path, first: str
) -> None:
    assert script(f"open @\n{first}truncate @ 4096\nsave =\nlook =\n") == "1 0 0"
    damage(tmp_path / "file", 3584, b"\2" * 512)
    assert script("look =\n") == "1 0 1"
    (tmp_path / "file").unlink()
    more = "write @ 3000 100 2\ntruncate @ 1024\ntruncate @ 2048\n"
    assert script(f"open @\n{first}truncate @ 4096\n{more}save =\nlook =\n") == "1 0 0"


@pytest.mark.parametrize("end", ["delete @\nopen @\n", "truncate @ 0\n"])
def test_an_earlier_life_of_the_file(script: Callable[[str], str], tmp_path: Path, end: str) -> None:
    """What it held before it was deleted, or truncated to nothing, is stale in it."""
    second = "write @ 0 2048 5\n"
    assert script(FIRST + end + second + "save =\nlook =\n") == "1 0 0"
    damage(tmp_path / "file", 1024, b"\2" * 512)
    assert script("look =\n") == "1 0 1"
    damage(tmp_path / "file", 0, b"\1" * 1024)
    # of four sectors the first life explains three, and the second one
    deleted = end.startswith("delete")
    assert script("look =\n") == ("1 0 3" if deleted else "1 0 1")
    nobody(tmp_path)
    assert script("look =\n") == "1 0 1"
