"""What preparing a board changes of its system is put back, however the preparing ends."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from base.paths import ROOT

# What stands for the system: files, and whether a folder is frozen.
WRITEBACK, INTERVAL = "proc/sys/vm/dirty_writeback_centisecs", "proc/sys/fs/xfs/xfssyncd_centisecs"
FSFREEZE = """#!/bin/sh
case $1 in
  -f) touch ROOT/freezing; [ ! -e ROOT/slow ] || sleep 2; echo "$2" > ROOT/frozen ;;
  -u) [ -e ROOT/frozen ] && rm ROOT/frozen ;;
esac
"""


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A folder that has /run/commitpath, /proc/sys and programs as a board's, with paths into it."""
    folder = tmp_path / "run/commitpath"
    for part in ("bin", "filesystems"):
        (folder / part).mkdir(parents=True)
    for script in [*(ROOT / "playbooks/board").glob("*.sh"), *(ROOT / "playbooks/filesystems").glob("*.sh")]:
        text = script.read_text().replace("/run/commitpath", str(folder))
        to = folder / "filesystems" if script.parent.name == "filesystems" else folder
        (to / script.name).write_text(text.replace("/proc/sys/", f"{tmp_path}/proc/sys/"))
    load = (ROOT / "playbooks/loads/driver.sh").read_text()
    (folder / "load.sh").write_text(load.replace("/run/commitpath", str(folder)))
    for name, value in ((WRITEBACK, "500"), (INTERVAL, "3000")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"{value}\n")
    (folder / "device.env").write_text("DEVICE_NUMBER=0:0\nDEVICE_NAME=none\n")
    (folder / "made-by-commitpath").write_text("bench-1")
    (tmp_path / "programs").mkdir()
    (tmp_path / "mnt").mkdir()
    for name in ("python3", "sync", "pkill"):
        (tmp_path / "programs" / name).write_text("#!/bin/sh\n")
    (tmp_path / "programs/fsfreeze").write_text(FSFREEZE.replace("ROOT", str(tmp_path)))
    (folder / "bin/driver").write_text(f"#!/bin/sh\ncat {tmp_path / WRITEBACK} {tmp_path / INTERVAL}\n")
    for program in [*(tmp_path / "programs").iterdir(), folder / "bin/driver"]:
        program.chmod(0o755)
    return tmp_path


def begin(board: Path, script: str, *words: str) -> subprocess.Popen[str]:
    """A script of the board, begun."""
    variables = {
        **{"FS_TYPE": "xfs", "MOUNTPOINT": str(board / "mnt"), "POPULATE_OPTIONS": ""},
        **{"REHEARSAL_OPTIONS": "", "REHEARSAL_CELL": ""},
        "PATH": f"{board}/programs:{os.environ['PATH']}",
    }
    # whoever ran the tests may have it ignore one, and a shell cannot trap that
    command = ["env", "--default-signal", "sh", str(board / "run/commitpath" / script), *words]
    return subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def frozen_meanwhile(board: Path) -> subprocess.Popen[str]:
    """prepare.sh while it freezes, which takes a while."""
    (board / "slow").touch()
    script = begin(board, "prepare.sh")
    end = time.monotonic() + 20
    while not (board / "freezing").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    assert (board / INTERVAL).read_text() == "720000\n"
    return script


def as_it_was(board: Path) -> bool:
    """Whether the system is as it was found."""
    values = [(board / name).read_text() for name in (WRITEBACK, INTERVAL)]
    return values == ["500\n", "3000\n"] and not (board / "frozen").exists()


def torn_down(board: Path, teardown: subprocess.Popen[str]) -> None:
    """Wait for the teardown; nothing of ours is left."""
    output, _ = teardown.communicate(timeout=30)
    assert (teardown.returncode, output) == (0, "torn down\n")
    assert as_it_was(board)
    assert not (board / "run/commitpath").exists()


def test_what_is_changed_is_so_until_the_end(board: Path) -> None:
    script = begin(board, "prepare.sh")
    said, _ = script.communicate(timeout=30)
    assert (script.returncode, said) == (0, "0\n3000\n" * 2)
    assert as_it_was(board)
    assert not (board / "run/commitpath/changes").exists()


@pytest.mark.parametrize("end", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_while_it_freezes(board: Path, end: signal.Signals) -> None:
    script = frozen_meanwhile(board)
    script.send_signal(end)
    script.communicate(timeout=30)
    assert script.returncode == 1
    assert as_it_was(board)


def test_teardown_while_it_freezes(board: Path) -> None:
    """It waits until what was told to end has: what is frozen only then would stay so."""
    script = frozen_meanwhile(board)
    # who is told with a signal that this process may have ignored
    teardown = board / "run/commitpath/teardown.sh"
    teardown.write_text(teardown.read_text().replace("kill -INT", "kill -TERM"))
    down = begin(board, "teardown.sh", str(board / "mnt"), "bench-1")
    script.communicate(timeout=30)
    torn_down(board, down)


def test_teardown_after_a_kill(board: Path) -> None:
    script = frozen_meanwhile(board)
    script.kill()
    script.wait(30)
    # what it ran goes on
    script.communicate(timeout=30)
    assert not as_it_was(board) and (board / "frozen").exists()
    torn_down(board, begin(board, "teardown.sh", str(board / "mnt"), "bench-1"))


def test_what_cannot_be_put_back_is_said_and_stays_noted(board: Path) -> None:
    changes = board / "run/commitpath/changes"
    changes.write_text(f"value {board}/none/such 7\nvalue {board / INTERVAL} 9\n")
    down = begin(board, "teardown.sh", str(board / "mnt"), "bench-1")
    said, _ = down.communicate(timeout=30)
    assert down.returncode == 1
    assert f"changes: {board}/none/such was 7, and could not be restored" in said
    assert (board / INTERVAL).read_text() == "9\n"
    assert changes.exists()


def test_the_first_value_that_was_noted_counts(board: Path) -> None:
    """Prepared again after a kill, the system is as the first found it."""
    (board / "run/commitpath/changes").write_text(f"value {board / WRITEBACK} 500\n")
    (board / WRITEBACK).write_text("0\n")
    assert begin(board, "prepare.sh").wait(30) == 0
    assert as_it_was(board)
