"""RocksDB opens a damaged log: whether it does, and with how many rows, in each wal_recovery_mode."""

import re
import shutil
from pathlib import Path

import pytest
from conftest import Driver, binary, one_line_error
from log_files import log_of

SAMPLE = Path(__file__).parents[1] / "analysis/key-values.tar.xz"
# bytes of the record of an insert of 6000 bytes, without the headers of its parts
RECORD = 6000
REFUSED = "opening the database failed: Corruption: "


@pytest.fixture
def killed(tmp_path):
    """A driver with a database whose last run was killed while it inserted rows, and the log of these."""
    shutil.unpack_archive(SAMPLE, tmp_path)
    driver = Driver(binary("engine-rocksdb"), tmp_path)
    (tmp_path / "key-values/rocksdb").rename(driver.database)
    return driver, max(driver.database.glob("*.log"))


def opened(driver, mode):
    """What the driver says when it opens the database, and the rows there are; None: it was not opened."""
    where = ["--database", driver.database, "--output-dir", driver.output, "--value-size", 6000]
    line = one_line_error(driver("run", *where, "--rows", 0, "--sync", "off", "--wal-recovery-mode", mode), 1)
    rows = re.search(r"the database has ([0-9]+) rows", line)
    return line, int(rows[1]) if rows else None


def undamaged(log):
    return 50 + log.stat().st_size // RECORD


MODES = (
    "kTolerateCorruptedTailRecords",
    "kAbsoluteConsistency",
    "kPointInTimeRecovery",
    "kSkipAnyCorruptedRecords",
)


@pytest.mark.parametrize("mode", MODES)
def test_a_log_as_it_was_left(killed, mode):
    driver, log = killed
    rows = undamaged(log)
    assert rows > 100 and opened(driver, mode)[1] == rows


@pytest.mark.parametrize("mode", MODES)
def test_an_unfinished_record(killed, mode):
    """The state after a crash in a write: each mode but one opens without that row."""
    driver, log = killed
    rows = undamaged(log)
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 100)
    line, found = opened(driver, mode)
    assert found == (None if mode == "kAbsoluteConsistency" else rows - 1)
    assert (REFUSED in line) == (found is None)


@pytest.mark.parametrize("mode", MODES)
def test_a_record_that_was_not_written_before_others(killed, mode):
    """The state after a power failure without syncs: zeros of a page in the middle."""
    driver, log = killed
    rows = undamaged(log)
    with log.open("r+b") as file:
        file.seek(log.stat().st_size // 2 // 4096 * 4096)
        file.write(bytes(4096))
    line, found = opened(driver, mode)
    assert (REFUSED in line) == (found is None)
    if mode in ("kTolerateCorruptedTailRecords", "kAbsoluteConsistency"):
        assert found is None
    else:
        # a prefix of half of the rows; or most of those after the page, too
        assert found == pytest.approx(
            50 + (rows - 50) * (0.5 if mode == "kPointInTimeRecovery" else 0.9), rel=0.1
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_cut_in_a_record", [False, True])
def test_a_later_log_without_the_end_of_an_earlier_one(killed, mode, is_cut_in_a_record):
    """RocksDB 6.14.6: "Gaps are still possible when WALs are truncated exactly on record boundaries"."""
    driver, log = killed
    rows, first = undamaged(log), log_of(100_001, size=6000)
    if is_cut_in_a_record:
        first = log_of(100_001, 100_002, size=6000)[:-1]
    for number, content in enumerate((first, log_of(100_003, size=6000)), 900):
        (driver.database / f"{number:06}.log").write_bytes(content)
    line, found = opened(driver, mode)
    assert (REFUSED in line) == (found is None)
    if is_cut_in_a_record and mode == "kAbsoluteConsistency":
        assert found is None
    else:
        assert found == rows + (1 if is_cut_in_a_record and mode == "kPointInTimeRecovery" else 2)
