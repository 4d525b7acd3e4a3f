"""How a command ends when it is told to."""

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# a command that has begun, and waits
WAITS = """\
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
from commitpath import __main__ as commands
def wait(variables):
    print("begun", flush=True)
    time.sleep(60)
commands.COMMANDS["board"] = wait
sys.argv[1:] = ["board"]
sys.exit(commands.main())
"""


def test_a_background_job_that_is_told_to_end_ends() -> None:
    """A shell without job control starts `make sweep &` with SIGINT ignored."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert error == "commitpath: interrupted; nothing is left running\n"
