"""Commands that need no board, in a new home with a new cache, which the demo begins.

Where the tests are root's, as a user who may not write to the checkout and is in no group of root's.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from base.paths import ROOT

TRACE = ROOT / "tests/inspect/traces/merged.txt"
IS_ROOT = os.geteuid() == 0
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"] if IS_ROOT else []
# a command, and what it prints or makes
COMMANDS = {
    "demo": (["demo"], "inspect"),
    "help": (["help"], "make experiment"),
    "plan": (["plan", "FS=f2fs", "MODE=wal"], '"journal_mode"'),
    "inspect": (["inspect", "TRACE=trace.txt", "CSV=commands.csv"], "commands.csv"),
    "trace-record": (
        ["trace-record", "FILE=new.trace", "--", "sqlite3", "new.db", "CREATE TABLE t(a)"],
        "new.trace: ",
    ),
}


def test_commands_without_a_board_work_for_another_user() -> None:
    # not in tmp_path: each pytest that begins closes the folder above it to other users
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "home").mkdir()
        shutil.copy(TRACE, place / "trace.txt")
        for path in (place, *place.iterdir()):
            if IS_ROOT:
                os.chown(path, 65534, 65534)
        assert failures(place) == {}
        assert not list((place / "home").iterdir())


def failures(place: Path) -> dict[str, str]:
    reached = ["test", "-x", sys.executable, "-a", "-w", str(place)]
    if subprocess.run([*NOBODY, *reached], check=False).returncode != 0:
        pytest.skip("another user may not enter this checkout's folder, or that of temporary files")
    environment = {
        **{"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(place / "home"), "TMPDIR": str(place)},
        **{"COMMITPATH_CACHE": str(place / "cache"), "COMMITPATH_RESULTS": str(place / "results")},
    }
    failed = {}
    for name, (words, printed) in COMMANDS.items():
        done = subprocess.run(
            [*NOBODY, ROOT / "bin/commitpath", *words],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or printed not in done.stdout + done.stderr:
            failed[name] = f"{done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
    return failed
