"""The statement log under ASan and UBSan: what is acknowledged is there after any crash, and nothing else.

The disk is one in memory (disk.c) whose power is cut; killed is a process with real files.
"""

import subprocess
from pathlib import Path

import crashes
import pytest
from crashes import count, crash

# of crash.c; each of these is wanted to be met
CASES = (
    *("clean", "log not begun or closed"),
    *("log reset; WAL reset", "log reset; WAL live", "log reset; WAL torn"),
    *("log used; WAL reset", "log used; WAL live", "log used; WAL torn"),
    *("WAL ahead of the log", "WAL ahead of the log; copied"),
)
REASONS = (
    *("log full", "dirty pages", "requested", "after recovery", "larger than the log", "schema"),
    *("not repeatable", "other database", "failed statement", "not captured"),
)


# the others in `make test-long`
@pytest.mark.parametrize("seeds", [20, 60])
def test_power_cuts_lose_and_invent_nothing(seeds: int) -> None:
    """And each case of a recovery, and each reason of a checkpoint, is met."""
    counted, message = crash("ssl", "cuts", "all", 100, seeds)
    assert (counted["bad"], message) == (0, "")
    assert counted["recoveries"] == 4 * seeds and counted["cut recoveries"] > 1.6 * seeds
    assert counted["acknowledged"] > 33 * seeds
    assert counted["in flight"] > 0.8 * seeds and counted["replayed"] > 3.3 * seeds
    assert tuple(counted["cases"]) == CASES and min(counted["cases"].values()) > 0, counted["cases"]
    assert all(counted["checkpoints"][reason] > 0 for reason in REASONS), counted["checkpoints"]


@pytest.mark.parametrize("mix", ["plain", "values", "random", "blobs", "same"])
def test_power_cuts_of_one_kind(mix: str) -> None:
    """More of them are tried by test_sqlite_releases.py."""
    counted, message = crash("ssl", "cuts", mix, 1, 8)
    assert (counted["bad"], message) == (0, "")
    assert mix == "blobs" or counted["replayed"] > 160


@pytest.mark.parametrize(
    ("mix", "seed", "left_out"), [("same", 4, "paper"), ("random", 2, "ignore"), ("blobs", 1, "blobs")]
)
def test_what_is_there_is_needed(mix: str, seed: int, left_out: str) -> None:
    """Recovery without ids, random numbers that are not captured, and blobs that are written unnoticed lose
    or invent something."""
    counted, message = crash("ssl", "cuts", mix, seed, 1, left_out)
    assert counted["bad"] == 1
    assert "what is there is neither" in message


@pytest.mark.parametrize("mix", ["all", "plain"])
def test_power_cuts_of_a_log_that_is_not_synced_leave_a_prefix(mix: str) -> None:
    """synchronous normal: the last transactions may be gone, none before a checkpoint is, and whatever comes
    after a recovery is not mixed with what was lost."""
    counted, message = crash("ssl", "cuts", mix, 100, 10, "normal")
    assert (counted["bad"], message) == (0, "")
    assert counted["lost"] > 20 and counted["replayed"] > 5, counted


def test_a_log_that_is_not_synced_has_its_resets_synced() -> None:
    """Else it is older than WAL or database, and nothing opens it."""
    counted, message = crash("ssl", "cuts", "plain", 1, 5, "normal", "unordered")
    assert counted["bad"] > 0
    assert "is not of what the database has now" in message


@pytest.mark.parametrize(("mix", "first", "seeds"), [("all", 100, 25), ("plain", 1, 10)])
def test_power_cuts_of_atomic_checkpoints_lose_and_invent_nothing(mix: str, first: int, seeds: int) -> None:
    """Nor does a SQLite that knows nothing of the log, and copies a WAL that it finds."""
    counted, message = crash("ssl", "cuts", mix, first, seeds, "atomic")
    assert (counted["bad"], message) == (0, "")
    assert counted["replayed"] > 50 and counted["checkpoints"]["dirty pages"] > 10


def test_a_wal_that_was_copied_is_gone_before_an_atomic_checkpoint() -> None:
    """Else a SQLite without the log copies its pages, which are older then."""
    counted, message = crash("ssl", "cuts", "plain", 4, 1, "atomic", "older")
    assert counted["bad"] > 0
    assert "is not of what the database has now" in message


def test_a_wal_whose_reset_failed_is_overwritten_before_an_atomic_checkpoint() -> None:
    """Else a recovery copies its pages over newer ones, and the log's statements are executed twice."""
    counted, message = count("ssl", "scenes", "stale")
    assert message == "" and counted["lives"] > 20


@pytest.mark.parametrize("fault", ["eio", "short", "nomem"])
def test_a_call_that_fails_loses_nothing_of_atomic_checkpoints(fault: str) -> None:
    counted, message = crash("ssl", "faults", fault, 1, 10, "atomic")
    assert (counted["bad"], message) == (0, "")
    assert counted["failures"] > 5 and counted["recoveries"] > 20


def test_a_record_behind_one_that_is_not_there_is_none() -> None:
    """Of each set of records; without an epoch of its own a log that goes on executes some of them."""
    assert count("ssl", "scenes", "hole") == ({"sets": 32, "bad": 0}, "")
    counted, message = count("ssl", "scenes", "hole", "epoch")
    # where the second is there and the first is not, whatever else
    assert counted["bad"] == 8 and "set 14: there were , then 9234" in message


def test_without_capture_there_are_checkpoints() -> None:
    counted, message = crash("ssl", "cuts", "random", 1, 10, "checkpoint")
    assert (counted["bad"], message) == (0, "")
    assert counted["checkpoints"]["not repeatable"] > 100


@pytest.mark.parametrize("fault", ["eio", "short"])
def test_a_call_that_fails_loses_no_checkpoint(fault: str) -> None:
    counted, message = crash("ssl", "faults", fault, 1, 10, "normal")
    assert (counted["bad"], message) == (0, "")
    assert counted["failures"] > 5 and counted["recoveries"] > 10


@pytest.mark.parametrize("fault", ["eio", "full", "short", "nomem"])
def test_a_call_that_fails_loses_nothing(fault: str) -> None:
    """Each call of a life is tried by test_every_call.py."""
    counted, message = crash("ssl", "faults", fault, 1, 15)
    assert (counted["bad"], message) == (0, "")
    assert counted["failures"] > 15 and counted["recoveries"] > 30


def test_what_was_not_synced_before_a_kill_is_not_relied_on() -> None:
    """As the mark of a database whose log is used next, or a WAL for which the log is reset."""
    counted, message = count("ssl", "scenes", "unsynced")
    assert message == ""
    assert counted["calls"] > 60 and counted["lives"] > 1000


SCENES = crashes.scenes("statement log", "/a.db-sla") | {
    "older": ["is of another database"],
    "release": ["is of SQLite 3045897, and this is 3046001"],
    "truncated": ["has 5000 bytes, and was made", "has 100 bytes, and was made"],
    "inspected": [
        *("database: log ", "WAL: ", "8 transactions, "),
        *("database: no log is live", "WAL: absent", "log: absent"),
    ],
    **{name: [] for name in ("sizes", "largest", "defaults", "modifiers", "authorizer", "temporary")},
    **{name: [] for name in ("rowid", "beside")},
}
SCENES["knobs"] += ["a log in persistent memory is never synced; synchronous normal is for one in a file"]


@pytest.mark.parametrize("scene", SCENES)
def test_scenes(scene: str) -> None:
    crashes.play("ssl", scene, SCENES[scene])


def test_threads_have_no_race_for_the_table_of_sums(tmp_path: Path) -> None:
    """Each has a database of its own: a record with a wrong sum would end the log at a recovery."""
    workloads = crashes.FOLDER.parents[1] / "workloads"
    crashes.built("ssl")  # SQLite's header is there then
    folders = [f"-I{workloads}", f"-I{workloads}/engines/ssl", f"-isystem{workloads}/build/sqlite/3.46.1"]
    program, sources = tmp_path / "threads", [crashes.FOLDER / "threads.c", workloads / "engines/ssl/bytes.c"]
    options = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-O1", "-g", "-fsanitize=thread", "-pthread"]
    subprocess.run(["gcc", *options, *folders, "-o", program, *sources], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("medium", ["fdatasync", "msync", "shared", "normal"])
def test_a_process_that_is_killed(tmp_path: Path, medium: str) -> None:
    """Whatever the log is on, and whether each commit syncs it or not."""
    crashes.kill("ssl", medium, tmp_path)


def test_a_log_is_synced_where_the_system_has_larger_pages(tmp_path: Path) -> None:
    """As arm64 kernels have: msync takes the address of one. The log of 64 KiB has four here."""
    folder = crashes.built("ssl")
    mains = ("crash", "every", "scene")
    objects = [path for path in folder.glob("*.o") if not path.name.startswith(mains)]
    wraps = [f"-Wl,--wrap={name}" for name in ("mmap", "msync", "sysconf")]
    options = ["-fsanitize=address,undefined", "-o", tmp_path / "kill", crashes.FOLDER / "large_pages.c"]
    subprocess.run(["gcc", *options, *wraps, *objects, "-lpthread", "-lm"], check=True)
    words = [tmp_path / "kill", "run", "msync", tmp_path / "1.db", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stderr
        acknowledged = [process.stdout.readline() for _ in range(200)]
        process.kill()
        assert acknowledged[-1] == "199\n", process.stderr.read()


def test_memory_that_is_not_persistent_is_refused(tmp_path: Path) -> None:
    """No log is left, and the database is as it was."""
    crashes.not_persistent("ssl", "-sla", tmp_path)


def test_what_is_in_the_logs_place_is_told(tmp_path: Path) -> None:
    crashes.in_its_place("ssl", "-sla", "statement log", tmp_path)


def test_a_damaged_byte_makes_no_other_database() -> None:
    """The log ends before a record that is damaged: what is there was there."""
    counted, message = count("ssl", "scenes", "bytes", "LOG", 109)
    assert (counted["bad"], message) == (0, "")
    assert counted["more"] > 20 and counted["refused"] > 0, counted
    counted, message = count("ssl", "scenes", "bytes", "PAGES", 421)
    assert (counted["bad"], message) == (0, "")
    assert counted["all"] == counted["tried"]
