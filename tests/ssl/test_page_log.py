"""The page log under ASan and UBSan, as the statement log (test_statement_log.py): what is acknowledged is
there after any crash, and nothing else; by either reading of a record.
"""

from pathlib import Path

import crashes
import pytest
from crashes import crash

READINGS = ("bytes", "cells")
# Of crash.c. No other SQLite knows the name of the file that its checkpoints write.
NOT_MET = {"merged pages ahead; copied"}
RARE = {"clean", "log not begun or closed"}


# those with 60 in `make test-long`
@pytest.mark.parametrize(("reading", "seeds"), [("bytes", 15), ("bytes", 60), ("cells", 60)])
def test_power_cuts_lose_and_invent_nothing(reading: str, seeds: int) -> None:
    counted, message = crash("ppl", "cuts", "all", 100, seeds, reading)
    assert (counted["bad"], message) == (0, "")
    assert counted["recoveries"] == 4 * seeds and counted["cut recoveries"] > 1.3 * seeds
    assert counted["acknowledged"] > 20 * seeds
    assert counted["in flight"] > 0.8 * seeds and counted["replayed"] > 2.5 * seeds
    met = {case for case, times in counted["cases"].items() if times}
    assert set(counted["cases"]) - met <= NOT_MET | RARE
    reasons = ("log full", "dirty pages", "after recovery", "sector full", "larger than a sector")
    assert all(counted["checkpoints"][reason] > 0 for reason in (*reasons, "database shrunk"))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("mix", ["plain", "same", "blobs"])
def test_power_cuts_of_one_kind(mix: str, reading: str) -> None:
    counted, message = crash("ppl", "cuts", mix, 1, 25, reading)
    assert (counted["bad"], message) == (0, "")
    assert counted["replayed"] > 50


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("left_out", ["word", "emptied"])
def test_what_is_there_is_needed(left_out: str, reading: str) -> None:
    """Records that count without a commit word, and sectors that stay when their page is merged, lose or
    invent something."""
    counted, message = crash("ppl", "cuts", "same", 1, 12, reading, left_out)
    assert counted["bad"] > 0
    assert "what is there is neither" in message


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("fault", ["eio", "full", "short", "nomem"])
def test_a_call_that_fails_loses_nothing(fault: str, reading: str) -> None:
    counted, message = crash("ppl", "faults", fault, 1, 50, reading)
    assert (counted["bad"], message) == (0, "")
    assert counted["failures"] > 50 and counted["recoveries"] > 100


SCENES = crashes.scenes("page log", "/a.db-ppl") | {
    "older": ["is older than its merged pages"],
    "truncated": ["has 5000 bytes, and was made", "has no header that is whole"],
    "sectors": [],
}
SCENES["knobs"] += [
    "a page log is synced at each commit: synchronous is full",
    "a sector of 500 bytes; powers of two from 64 to 65536 are allowed",
    "a log of 4096 bytes has no room for a sector of 8192",
]


@pytest.mark.parametrize("scene", SCENES)
def test_scenes(scene: str) -> None:
    crashes.play("ppl", scene, SCENES[scene])


@pytest.mark.parametrize("medium", ["fdatasync", "msync", "shared"])
def test_a_process_that_is_killed(tmp_path: Path, medium: str) -> None:
    """Whatever the log is on."""
    crashes.kill("ppl", medium, tmp_path)


def test_memory_that_is_not_persistent_is_refused(tmp_path: Path) -> None:
    """No log is left, and the database is as it was."""
    crashes.not_persistent("ppl", "-ppl", tmp_path)


@pytest.mark.parametrize(("suffix", "name"), [("-ppl", "page log"), ("-merge", "merged pages")])
def test_what_is_in_a_files_place_is_told(tmp_path: Path, suffix: str, name: str) -> None:
    crashes.in_its_place("ppl", suffix, name, tmp_path)


def test_a_damaged_byte_makes_no_other_database() -> None:
    """Of the log all is there, or all but the last transaction, as where it is torn; or it is refused."""
    counted, message = crashes.count("ppl", "scenes", "bytes", "LOG", 31)
    assert (counted["bad"], message) == (0, "")
    assert counted["more"] == 0 and counted["refused"] > 35, counted
    counted, message = crashes.count("ppl", "scenes", "bytes", "PAGES", 211)
    assert (counted["bad"], message) == (0, "")
    # its first byte, by which it is a file of another kind
    assert (counted["refused"], counted["all"]) == (2, counted["tried"] - 2)
