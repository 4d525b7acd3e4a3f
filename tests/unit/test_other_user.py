"""Commands that need no board, as a user who may not write to the checkout and is in no group of root's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from base.paths import ROOT

TRACE = ROOT / "tests/inspect/traces/merged.txt"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
# a command, and what it prints or makes
COMMANDS = {
    "help": (["help"], "make experiment"),
    "plan": (["plan", "FS=f2fs", "MODE=wal"], '"journal_mode"'),
    "demo": (["demo"], "inspect"),
    "inspect": (["inspect", "TRACE=trace.txt", "CSV=commands.csv"], "commands.csv"),
    "trace-record": (
        ["trace-record", "FILE=new.trace", "--", "sqlite3", "new.db", "CREATE TABLE t(a)"],
        "new.trace: ",
    ),
}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_commands_without_a_board_work_for_another_user() -> None:
    # not in tmp_path: each pytest that begins closes the folder above it to other users
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, 65534, 65534)
        failed = _failed(Path(folder))
    assert failed == {}


def _failed(home: Path) -> dict[str, str]:
    shutil.copy(TRACE, home / "trace.txt")
    os.chown(home / "trace.txt", 65534, 65534)
    reached = ["test", "-x", sys.executable, "-a", "-w", str(home)]
    if subprocess.run([*NOBODY, *reached], check=False).returncode != 0:
        pytest.skip("another user may not enter this checkout's folder, or that of temporary files")
    environment = {
        **{"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(home), "TMPDIR": str(home)},
        **{"COMMITPATH_CACHE": str(home / "cache"), "COMMITPATH_RESULTS": str(home / "results")},
    }
    failed = {}
    for name, (words, printed) in COMMANDS.items():
        done = subprocess.run(
            [*NOBODY, ROOT / "bin/commitpath", *words],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or printed not in done.stdout + done.stderr:
            failed[name] = f"{done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
    return failed
