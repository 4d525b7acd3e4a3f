"""The queue of tests, in a checkout of a few tests."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import groups
import pytest

BUDGETS = """
quick:
  tests: [quick]
  seconds: 60
  inputs: [data]
own:
  tests: [quick/test_own.py]
  seconds: 60
slow:
  tests: [slow]
  seconds: 0.01
  each: true
rare:
  tests: [rare]
  seconds: 60
  long: true
seldom:
  tests: [quick/test_quick.py::seldom]
  seconds: 60
  long: true
"""
QUICK = """
from pathlib import Path
def test_data():
    assert Path("data").read_text() == "good"
def test_seldom():
    pass
"""
SLOW = """
import os, time
import pytest
@pytest.mark.parametrize("number", [1, 2])
def test_sleep(number):
    print(os.environ["PYTEST_XDIST_WORKER"], file=open("workers", "a"))
    time.sleep(0.5)
"""
HANGS = """
import subprocess
import pytest
@pytest.fixture
def child():
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print(process.pid, file=open("child", "w"), flush=True)
    yield process
    process.kill()
def test_wait(child):
    child.wait()
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the runner needs, and three groups."""
    tests = tmp_path / "tests"
    for name in ("quick", "slow", "rare"):
        (tests / name).mkdir(parents=True)
    for name in ("base", "commitpath", "images", "model", "analysis", "experiments"):
        (tmp_path / name).symlink_to(groups.ROOT / name)
    for name in ("runner.py", "groups.py", "commands.py", "queued.py"):
        shutil.copy(groups.TESTS / name, tests)
    # the boards' and commands' fixtures take each worker seconds to import
    (tests / "conftest.py").write_text('pytest_plugins = ("queued",)\n')
    (tests / "budgets.yml").write_text(BUDGETS)
    (tests / "quick/test_quick.py").write_text(QUICK)
    (tests / "quick/test_own.py").write_text("def test_own():\n    pass\n")
    (tests / "slow/test_slow.py").write_text(SLOW)
    (tests / "rare/test_rare.py").write_text("def test_rare():\n    pass\n")
    (tmp_path / "data").write_text("good")
    (tmp_path / ".gitignore").write_text("__pycache__\n")
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-q"\n')
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def start(checkout: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.Popen(
        [sys.executable, "tests/runner.py", *options],
        cwd=checkout,
        env={**clean, "COMMITPATH_CACHE": str(checkout / "cache"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def ran(checkout: Path, *options: str, **environment: str) -> tuple[int, str]:
    """(exit code, what it printed)."""
    process = start(checkout, *options, **environment)
    said, _ = process.communicate(timeout=300)
    return process.returncode, said


SKIPPED = "skipped: quick: passed, and nothing that it depends on has changed; ALL=1 runs it"


def test_a_group_that_passed_is_skipped_until_it_changes(checkout: Path) -> None:
    code, said = ran(checkout)
    assert code == 0, said
    assert re.search(
        r"^ +\d+\.\d\d s +\d+\.\d\d CPU s  tests/quick/test_quick.py::test_data$", said, re.MULTILINE
    ), said
    slept = re.findall(
        r"^ +(\d+\.\d\d) s +\d+\.\d\d CPU s  tests/slow/test_slow.py::test_sleep\[\d\]$", said, re.MULTILINE
    )
    assert len(slept) == 2 and min(map(float, slept)) >= 0.5, said
    assert re.search(r"^quick +1 +\d+\.\d +60 +\d+\.\d$", said, re.MULTILINE), said
    # more than its budget, and no failure
    assert re.search(r"^slow +2 +\d+\.\d +0 +\d+\.\d  over$", said, re.MULTILINE), said
    assert re.search(r"^\d+ s in all$", said, re.MULTILINE), said
    assert "skipped" not in said and "rare" not in said and "seldom" not in said
    workers = (checkout / "workers").read_text().split()
    assert len(set(workers)) == min(2, os.cpu_count() or 1)
    code, said = ran(checkout)
    assert code == 0 and SKIPPED in said and "test_data" not in said and "test_sleep" in said
    # of the same folder, and another group's
    assert "tests/quick/test_own.py::test_own" in said
    (checkout / "data").write_text("bad")
    code, said = ran(checkout)
    assert code == 1 and SKIPPED not in said
    assert re.search(r"s  tests/quick/test_quick.py::test_data failed$", said, re.MULTILINE), said


def test_a_file_that_cannot_be_read_fails_its_group(checkout: Path) -> None:
    broken = checkout / "tests/quick/test_broken.py"
    broken.write_text("import nothing_of_that_name\n")
    for _ in range(2):
        code, said = ran(checkout)
        assert code == 1 and SKIPPED not in said and "nothing_of_that_name" in said


def test_long_groups_run_when_asked_for(checkout: Path) -> None:
    code, said = ran(checkout, "--long")
    assert code == 0 and "test_rare" in said and "test_data" not in said and "test_sleep" not in said
    assert re.search(r"^seldom +1 ", said, re.MULTILINE), said
    (checkout / "tests/quick/test_quick.py").write_text("def test_data():\n    pass\n")
    code, said = ran(checkout, "--long")
    assert code == 2 and "runner: seldom: no test has such a name: quick/test_quick.py::seldom\n" in said


@pytest.mark.parametrize("everyone", [True, False])
def test_ctrl_c_leaves_nothing(checkout: Path, everyone: bool) -> None:
    """From a terminal all processes get it, from a `kill` the first only; a test's own work is undone."""
    (checkout / "tests/slow/test_slow.py").write_text(HANGS)
    process = start(checkout)
    deadline = time.monotonic() + 120
    while not (checkout / "child").exists() or not (checkout / "child").read_text().strip():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    if everyone:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2, said
    child = Path("/proc") / (checkout / "child").read_text().strip() / "cmdline"
    assert not (child.exists() and child.read_bytes())
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert not list((checkout / "cache").glob("tests/slow-*"))
