"""How a command ends when it is told to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTERRUPTED = "commitpath: interrupted; nothing is left running\n"
# a command that has begun, and waits
WAITS = """\
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
# not as nohup may have left it for the tests
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from commitpath import __main__ as command
from commitpath.commands import dispatch
def wait(variables):
    print("begun", flush=True)
    time.sleep(60)
dispatch.COMMANDS["board"] = wait
sys.argv[1:] = ["board"]
sys.exit(command.main())
"""

# one that is told to end in a destructor, where Python drops what is raised
DROPS = WAITS.replace(
    "    time.sleep(60)",
    """\
    class Told:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)
            time.sleep(0.01)
    told = Told()
    del told
    time.sleep(60)""",
)
# one that is told a second time while it answers the first
TWICE = """\
import signal, sys
from base import interrupts
class Name:
    def __format__(self, _):
        signal.raise_signal(signal.SIGINT)
        return "commitpath"
def run():
    interrupts.block()
    interrupts.unblock()
    print("begun", flush=True)
    signal.raise_signal(signal.SIGINT)
sys.exit(interrupts.run_command(Name(), run))
"""
# one that is told a second time while it cleans up, as each of a group that is told is by make, too
CLEANS = WAITS.replace("SIG_IGN", "default_int_handler").replace(
    """\
    print("begun", flush=True)
    time.sleep(60)""",
    """\
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        for told in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.raise_signal(told)
            time.sleep(0.01)
        print("cleaned up", flush=True)""",
)
# one that is told while an extension is loaded
EXTENSION = WAITS.replace(
    "    time.sleep(60)",
    """\
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt as error:
        raise ImportError("initialization failed") from error""",
)
# one that waits for a build, with Polars loaded
BUILDS = WAITS.replace("SIG_IGN", "default_int_handler").replace(
    """\
    print("begun", flush=True)
    time.sleep(60)""",
    """\
    import polars, subprocess, threading
    from base.progress import step
    with step("build"):
        threading.Timer(0.5, print, ["begun"], {"flush": True}).start()
        null = subprocess.DEVNULL
        subprocess.Popen(["sleep", "20"], stdout=null, stderr=null, start_new_session=True).wait()""",
)
# one whose libraries load slowly
LOADS = """\
import sys, time
class Slow:
    def find_spec(self, name, path, target=None):
        if name == "commitpath.commands.dispatch":
            print("begun", flush=True)
            time.sleep(0.5)
sys.meta_path.insert(0, Slow())
from commitpath import __main__ as command
sys.argv[1:] = ["snapshots"]
sys.exit(command.main())
"""


def answer(program: str, told: signal.Signals | None) -> tuple[int, str, str]:
    """(exit code, what it printed on stdout after its beginning, on stderr) of a program that is told."""
    with subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == "begun\n"
        if told:
            process.send_signal(told)
        output, error = process.communicate(timeout=20)
    return process.returncode, output, error


def test_a_background_job_that_is_told_to_end_ends() -> None:
    """A shell without job control starts `make sweep &` with SIGINT ignored."""
    assert answer(WAITS, signal.SIGTERM) == (130, "", INTERRUPTED)


@pytest.mark.parametrize("told", [signal.SIGHUP, signal.SIGINT])
def test_what_is_told_twice_at_once_is_cleaned_up(told: signal.Signals) -> None:
    assert answer(CLEANS, told) == (130, "cleaned up\n", INTERRUPTED)


def test_ctrl_c_does_not_wait_for_a_builds_end() -> None:
    begin = time.monotonic()
    code, _, error = answer(BUILDS, signal.SIGINT)
    assert code == 130 and error.endswith(INTERRUPTED) and time.monotonic() - begin < 15


@pytest.mark.parametrize(
    ("program", "told"), [(DROPS, None), (TWICE, None), (EXTENSION, None), (LOADS, signal.SIGINT)]
)
def test_an_interrupt_has_one_answer(program: str, told: signal.Signals | None) -> None:
    assert answer(program, told) == (130, "", INTERRUPTED)


@pytest.mark.parametrize("step", [5, 1])
def test_ctrl_c_at_any_moment_has_one_answer(step: int) -> None:
    """At each or every fifth of 15 moments of 0.6 s, from make's start on: while Python or its libraries are
    loaded, too."""
    for moment in range(0, 15, step):
        with subprocess.Popen(
            ["env", "--default-signal=INT", "make", "snapshots"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            time.sleep(moment * 0.04)
            os.killpg(process.pid, signal.SIGINT)
            _, error = process.communicate(timeout=20)
        assert "Traceback" not in error, (moment, error)
        assert "KeyboardInterrupt" not in error, (moment, error)
