"""Every failure is one clear line, a non-zero exit and no config.json."""

import resource
import sqlite3

import pytest
from conftest import one_line_error

RUN = [
    *("run", "--database", "x", "--rows", "1", "--journal-mode", "wal", "--synchronous", "full"),
    *("--output-dir", "o"),
]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "no command"),
        (["run", "database"], "'database' is not an option"),
        ([*RUN, "--n"], "--n needs a value"),
        ([*RUN, "--n", "many"], "--n: 'many' is not a whole number"),
        ([*RUN, "--n", "0"], "--n: 0 is not from 1 to"),
        ([*RUN, "--n", "1", "--n", "2"], "--n is given twice"),
        ([*RUN[:5], "--journal-mode", "3"], "--journal-mode: '3' is not one of its words"),
        (RUN[:-2], "--output-dir must be given"),
    ],
)
def test_wrong_usage(newest, arguments, expected):
    assert expected in one_line_error(newest(*arguments), 2)


def no_results(driver):
    """But what was acknowledged (test_acknowledged.py)."""
    names = [path.name for path in driver.output.iterdir()] if driver.output.exists() else []
    assert set(names) <= {"acknowledged.bin"}


def test_page_size_differs(driver):
    driver.populate(page_size=1024)
    line = one_line_error(driver.run(), 1)
    assert "page_size: 4096 was requested" in line and "says 1024" in line
    no_results(driver)


def test_no_synchronous_extra_in_old_releases(old):
    old.populate()
    line = one_line_error(old.run(synchronous="extra"), 1)
    assert "synchronous: extra was requested, but SQLite 3.8.11.1 says" in line
    no_results(old)


def test_no_checksums_in_old_releases(old):
    line = one_line_error(old("populate", "--database", old.database, "--rows", 1, "--checksums", "yes"), 1)
    assert line == "driver: checksums: SQLite 3.8.11.1 has no checksum VFS"
    assert not old.database.exists()


def test_no_checksums_in_a_database_without_room_for_them(newest):
    newest.populate()
    line = one_line_error(newest.run("--checksums", "yes"), 1)
    assert line == "driver: checksums: yes was requested, but SQLite 3.46.1 says no"
    no_results(newest)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_wrong_bit_of_a_row_is_noticed_with_checksums(newest, mode):
    for checksums in ("no", "yes"):
        # more than the cache holds
        newest.populate("--checksums", checksums, rows=1000)
        newest.run_ok("--checksums", checksums, "--vfs-log", rows=1000, mode=mode)
        assert newest.config()["effective"]["checksums"] == checksums
        pages = bytearray(newest.database.read_bytes())
        assert pages[20] == {"no": 0, "yes": 8}[checksums]
        # in the value of a row: the end of a page of the table
        pages[5 * 4096 + 3000] ^= 1
        newest.database.write_bytes(pages)
        rows = newest.config()["rows_after"]
        done = newest.run("--checksums", checksums, rows=rows, mode=mode)
        if checksums == "no":
            assert (done.returncode, done.stderr) == (0, "")
    assert "SELECT id, value FROM sample failed: SQLite error 8202" in one_line_error(done, 1)


def test_pages_that_stay_in_the_page_cache_end_a_cold_run(driver, tmp_path):
    driver.populate()
    (tmp_path / "drop").touch()
    line = one_line_error(driver.run("--drop-caches", tmp_path / "drop"), 1)
    assert (tmp_path / "drop").read_text() == "3\n3\n"
    assert (
        "are still in the page cache after it was dropped" in line and f"pages of {driver.database}" in line
    )
    no_results(driver)


def test_no_database(driver):
    assert "unable to open database file" in one_line_error(driver.run(), 1)


def test_populate_does_not_overwrite(driver):
    driver.populate()
    done = driver("populate", "--database", driver.database, "--rows", 1)
    assert "exists already" in one_line_error(done, 1)


def limit_file_size(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("mode", ["delete", "wal", "off"])
def test_database_cannot_grow(driver, mode):
    driver.populate()
    assert driver.run(mode="delete").returncode == 0
    driver.populate()
    limit = driver.database.stat().st_size + 8192
    line = one_line_error(driver.run(mode=mode, n=100, preexec_fn=limit_file_size(limit)), 1)
    assert "phase insert, op insert: step failed: SQLite error" in line
    no_results(driver)


def test_database_locked_by_another(newest):
    newest.populate()
    other = sqlite3.connect(newest.database)
    other.execute("BEGIN EXCLUSIVE")
    assert "database is locked" in one_line_error(newest.run(), 1)
    other.close()
