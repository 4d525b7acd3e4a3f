"""LevelDB with our patch, compiled for this host: which tables keep their index block in memory."""

import functools
import re
import subprocess
from pathlib import Path

import pytest
from conftest import WORKLOADS, Driver, ok
from made import make

from images import artifacts, compiling

SANITIZED = "CFLAGS=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
SMALL = ("--write-buffer-size", 65536, "--max-file-size", 1048576)


@functools.cache
def root() -> Path:
    return compiling.root("leveldb", None)


@functools.cache
def patched_driver() -> Path:
    built = WORKLOADS / "build/test/driver-patched-leveldb"
    with artifacts.locked(built):
        make(WORKLOADS, "driver", "ENGINE=leveldb", f"OUT={built}", f"ENGINE_ROOT={root()}", SANITIZED)
    return built


@pytest.mark.parametrize("levels", [2, 7])
def test_a_table_below_level_1_reads_its_index_for_each_get(tmp_path: Path, levels: int) -> None:
    """Each Get reads one block of rows of each table that it reaches."""
    program = tmp_path / "index_reads"
    source = Path(__file__).with_name("index_reads.cc")
    words = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0", f"-isystem{root()}/usr/include"]
    # libleveldb.a, libsnappy.a
    libraries = sorted((root() / "usr/lib").glob("*/*.a"))
    subprocess.run(["cc", *words, "-o", program, source, *libraries, "-lstdc++", "-lpthread"], check=True)
    done = subprocess.run([program, tmp_path / "db", str(levels)], check=True, capture_output=True, text=True)
    *tables, keys = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert keys == [40] and {level for level, *_ in tables} == {0, 1, 2}
    for level, _, index, others in tables:
        assert index == (others if level >= levels else 0)
    moved = re.findall("Moved #([0-9]+) to level-2", (tmp_path / "db/LOG").read_text())
    read = {number for level, number, _, others in tables if level == 2 and others}
    assert len(moved) > 2 and {int(number) for number in moved} <= read


def test_a_run_has_the_same_results_with_fewer_indexes(tmp_path: Path) -> None:
    """The same rows and files; the value is read back."""
    found = []
    for value in ("all", "levels-0-1"):
        driver = Driver(patched_driver(), tmp_path / value)
        driver.folder.mkdir()
        ok(driver("populate", "--database", driver.database, "--rows", 1000, *SMALL))
        where = ["--database", driver.database, "--output-dir", driver.output, "--workload", "kv"]
        sizes = ["--rows", 1000, "--n", 300, "--sync", "off", *SMALL]
        ok(driver("run", *where, *sizes, "--index-blocks", value, "--checkpoint-every", 400))
        config = driver.config()
        assert config["effective"] == {"background": "inline", "index_blocks": value}
        rows = [(row["op"], row["rows"], row["bytes"]) for row in driver.table("transactions.csv")]
        # the info log has times
        files = {path.name: path.read_bytes() for path in driver.database.iterdir() if "LOG" not in path.name}
        found.append((rows, files, config["properties"]))
    assert found[0] == found[1]
    assert int(found[0][2]["num-files-at-level2"]) > 0
