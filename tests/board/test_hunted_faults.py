"""make hunt finds a fault that is put into SQLite, and none in SQLite's own release."""

import subprocess
from pathlib import Path

import commands

from commitpath.cells.axes import newest
from images import artifacts

# The checkpoint's sync of the database, and what is there in its place.
SYNC = "rc = sqlite3OsSync(pWal->pDbFd, CKPT_SYNC_FLAGS(sync_flags));"
BOARD = ["FS=ext4-ordered", "DEVICE=emmc-5.0"]


def hunted(*words: str) -> subprocess.CompletedProcess[str]:
    return commands.call("hunt", *BOARD, *words)


def test_a_skipped_sync_is_found_and_made_a_case(tmp_path: Path) -> None:
    sources = artifacts.release("sqlite", newest())
    text = (sources / "sqlite3.c").read_text()
    assert text.count(SYNC) == 1
    (tmp_path / "sqlite3.c").write_text(text.replace(SYNC, "rc = SQLITE_OK;"))
    (tmp_path / "sqlite3.h").write_text((sources / "sqlite3.h").read_text())
    done = hunted(f"SQLITE=tree:{tmp_path}", "MODE=wal", "WAL_AUTOCHECKPOINT=2", "MINUTES=1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "PROMISE BROKEN by" in done.stdout
    case = done.stdout.partition("make crash-replay CASE=")[2].splitlines()[0]
    again = commands.call("crash-replay", f"CASE={case}", "CMD=exit 7")
    assert again.returncode == 7 and again.stdout.endswith("; as the case has it\n"), again.stderr


def test_ten_minutes_find_nothing_in_the_release() -> None:
    done = hunted("MINUTES=10", "SEED=1")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].endswith("0 broke a promise, 0 had no verdict")
