"""The query cache returns what a table without one does, in both of its places; broken caches are noticed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from extension import BUILT, FOLDER, LIBRARY, WORKLOADS, program
from made import make

SOURCES = WORKLOADS / "engines/sqlitekv"
# A file, what it has, and what it has instead. An entry is erased at the write and again at the commit.
MUTANTS = {
    "not erased": ("store.c", r"cache_erase\(store->cache, CACHE_ROW, [a-z>-]+\)", "(void)0"),
    "used in a transaction that writes": ("store.c", r"store->overlay.changes == 0 \?", "true ?"),
    "no new epoch": ("store.c", r"\+\+store->epoch", "store->epoch"),
    "another table's row": ("direct.c", r"key_begin\(&table->key, table->shared->id\)",
                            "key_begin(&table->key, 2)"),
    "no whole key": ("cache.c", r"slot->hash == hash|memcmp\(slot->data, key.data, key.size\) == 0", "true"),
}  # fmt: skip


def run(command: Path, folder: Path, operations: int, seed: int) -> subprocess.CompletedProcess[str]:
    words = [str(command), str(folder / "kv"), str(operations), str(seed)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def counts(folder: Path, operations: int, seed: int) -> dict[str, int]:
    done = run(program("cached"), folder, operations, seed)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout)}


def test_no_stale_row(tmp_path: Path) -> None:
    counted = counts(tmp_path, 10_000, 1)
    assert counted["rows"] > 2000 and counted["evicted"] > 1000
    # a hit of a statement that was not compiled is one of the cache's
    assert 500 < counted["direct"] < counted["hits"] - 500


@pytest.mark.parametrize("seed", [2])
def test_no_stale_row_of_a_million_operations(tmp_path: Path, seed: int) -> None:
    print(counts(tmp_path, 1_000_000, seed))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_cache_is_noticed(tmp_path: Path, name: str) -> None:
    """Only the changed file is compiled again."""
    program("cached")
    file, text, instead = MUTANTS[name]
    sources, built = tmp_path / "sqlitekv", tmp_path / "built"
    shutil.copytree(SOURCES, sources)
    shutil.copytree(BUILT, built, ignore=shutil.ignore_patterns("*.d", "plain", "cached"))
    changed, count = re.subn(text, instead, (sources / file).read_text(encoding="utf-8"))
    assert count
    (sources / file).write_text(changed, encoding="utf-8")
    make(
        FOLDER, str(built / "cached"), f"OUT={built}", f"KV={sources}", f"LIBRARY={LIBRARY}.objects/sqlite3.o"
    )
    done = run(built / "cached", tmp_path, 10_000, 1)
    assert done.returncode == 1 and "a stale row" in done.stderr
