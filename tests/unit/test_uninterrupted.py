"""An interrupt at each step of what makes or removes something: nothing is left, nothing goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Do it again and again, and be told to end at its first call, its second, … in the functions of FILES.
# An interrupt is seen where Python looks for one: when a function begins, after each call, in each loop.
STEPS = """\
import dis, gc, os, shutil, signal, subprocess, sys, tempfile, time
from pathlib import Path
from base import interrupts, scratch
interrupts.ONE_SECONDS = 0
interrupts.AGAIN_SECONDS = 0.001
interrupts.block()
interrupts.unblock()
PLACE = Path(sys.argv[1])
EVERY = globals().get("EVERY", 1)
LOOKS = ("CALL", "RESUME", "JUMP_BACKWARD", "PRECALL")

class Told:
    def __init__(self, step):
        self.left, self.before, self.codes = step, {}, {}

    def looks(self, frame):
        code = frame.f_code
        if code not in self.codes:
            self.codes[code] = {at.offset: at.opname for at in dis.get_instructions(code)}
        # by its number: a frame that is kept keeps what it would have ended
        # Between the end of a call of Popen and its `with` are nanoseconds, and no system call
        if code is subprocess.run.__code__:
            return False
        last = self.before.get(id(frame), "RESUME")
        self.before[id(frame)] = self.codes[code].get(frame.f_lasti, "")
        return last.startswith(LOOKS)

    def __call__(self, frame, event, _):
        if not frame.f_code.co_filename.endswith(FILES):
            return None
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines, frame.f_trace = True, False, self
            self.before.pop(id(frame), None)
        if event == "opcode" and self.left >= 0 and self.looks(frame):
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                self.where = f"{frame.f_code.co_name}, line {frame.f_lineno} of {frame.f_code.co_filename}"
                signal.raise_signal(signal.SIGTERM)
        return self

def tried(step):
    global told
    told = Told(step)
    # since Python 3.12 no frame has opcode events unless one asked for them before settrace
    sys._getframe().f_trace_opcodes = True
    sys.settrace(told)
    try:
        act()
        # one that had to wait
        time.sleep(0.003) if told.left < 0 else None
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    assert told.left >= 0, f"step {step}: the interrupt was lost"
    return False

step = 0
while tried(step):
    gc.collect()
    left = sorted(path.name for path in PLACE.iterdir() if path.name != "page")
    assert not left, f"step {step}, {told.where}: {left}"
    try:
        os.waitpid(-1, os.WNOHANG)
        raise SystemExit(f"step {step}, {told.where}: a process is left")
    except ChildProcessError:
        pass
    step += EVERY
print(step)
"""

SCRATCH = """\
FILES = ("base/scratch.py", "/contextlib.py")
def act():
    with scratch.folder(PLACE, "run") as folder:
        (folder / "made").touch()
"""
WRITTEN = """\
FILES = ("base/scratch.py", "/contextlib.py")
def act():
    with scratch.whole(PLACE / "page") as part:
        part.touch()
"""
TEMPORARY = """\
FILES = ("/tempfile.py", "/weakref.py")
def act():
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        (Path(folder) / "made").touch()
"""
FILE = """\
FILES = ("/tempfile.py",)
def act():
    with tempfile.NamedTemporaryFile(dir=PLACE):
        pass
"""
PROCESS = """\
FILES = ("/subprocess.py",)
EVERY = 3
def act():
    subprocess.run(["true"], check=True)
"""


PROGRAMS = {
    "folder": SCRATCH,
    "file": WRITTEN,
    "temporary folder": TEMPORARY,
    "temporary file": FILE,
    "process": PROCESS,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupt_at_each_step_leaves_nothing(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAMS[name] + STEPS, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert int(done.stdout) > 10


DROPPED = """\
import signal, time, traceback
from base import interrupts
interrupts.ONE_SECONDS = 0
interrupts.AGAIN_SECONDS = 0.001
interrupts.block()
interrupts.unblock()

class Dropped:
    @property
    def exc_type(self):
        signal.raise_signal(signal.SIGTERM)
        return KeyboardInterrupt

try:
    interrupts._again(Dropped())
    time.sleep(1)
except KeyboardInterrupt as error:
    print(*("_again" == frame.name for frame in traceback.extract_tb(error.__traceback__)))
"""


def test_an_interrupt_while_a_dropped_one_is_taken_up_is_not_dropped() -> None:
    """It is raised once that has returned."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "False" in done.stdout and "True" not in done.stdout, done.stderr
