"""What a terminal shows of steps and sweeps, replayed by a terminal's emulator, and what a file gets."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

import pyte
import pytest

from commitpath.sweep import progress

ROOT = Path(__file__).resolve().parents[2]
STEPS = """
import sys, time
from base.progress import step
with step("prepare a board and save its snapshot"):
    time.sleep(1.3)
    with step("make, mount and populate the filesystem, rehearse"):
        time.sleep(1.3)
        print("the snapshot f2fs-100 is made again", file=sys.stderr)
        time.sleep(1.3)
    print("a table")
    time.sleep(1.3)
"""
FAILS = STEPS.replace('print("a table")', 'raise SystemExit("commitpath: no luck")')
SWEEP = """
import time
from pathlib import Path
from commitpath.sweep import progress
progress.STATE = Path({state!r})
keys = [f"key-{{number}}" for number in range(200)]
shown = progress.Progress(keys, ["board-1", "board-2"], 2, 1000)
with shown.shown():
    for key in keys[:8]:
        for kind, name in (("done", key), ("prepared", "board-1")):
            (progress.STATE / kind).mkdir(exist_ok=True)
            (progress.STATE / kind / name).write_text('{{"seconds": 4000.5}}')
        shown.look()
        time.sleep(0.3)
"""


@dataclass
class Replay:
    """A terminal that a program ran on."""

    code: int = 0
    seconds: float = 0.0
    written: bytes = b""
    # every state of the screen, its lines that are not empty
    screens: list[list[str]] = field(default_factory=list)

    @property
    def last(self) -> list[str]:
        return self.screens[-1]


def on_a_terminal(
    script: str, columns: int, interrupt_after: float | None = None, stdout: int | None = None
) -> Replay:
    """Run a script with a terminal of so many columns as its stderr, and stdout if that is not given."""
    begin = time.monotonic()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=slave,
        stdout=stdout or slave,
        stderr=slave,
        env={**environment, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(slave)
    if interrupt_after:
        time.sleep(interrupt_after)
        process.send_signal(signal.SIGINT)
    replay = Replay()
    screen = pyte.Screen(columns, 24)
    stream = pyte.ByteStream(screen)
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # the other end is closed
            break
        replay.written += part
        stream.feed(part)
        replay.screens.append([line.rstrip() for line in screen.display if line.strip()])
    os.close(master)
    replay.code = process.wait()
    replay.seconds = time.monotonic() - begin
    assert not screen.cursor.hidden
    return replay


def without_seconds(lines: list[str]) -> list[str]:
    """Lines without the seconds that each took."""
    return [re.sub(r"[0-9.]+ s$", "N s", line) for line in lines]


def test_steps_within_steps() -> None:
    replay = on_a_terminal(STEPS, 80)
    assert without_seconds(replay.last) == [
        "the snapshot f2fs-100 is made again",
        "  make, mount and populate the filesystem, rehearse: done, N s",
        "a table",
        "prepare a board and save its snapshot: done, N s",
    ]
    # at no moment is a line written over what another left
    for lines in replay.screens:
        whole = "\n".join(lines)
        assert not re.search(r"done, [\d.]+ s(?! |$|\n)|done.*…[^\n]*…[^\n]*done", whole), lines
    both = [lines for lines in replay.screens if sum("…" in line for line in lines) == 2]
    assert both, replay.screens
    # each second, and with each line that begins, ends or is printed: some are drawn twice
    assert replay.written.count(b"prepare a board and") <= replay.seconds + 10


def test_a_step_that_fails_leaves_a_clean_line() -> None:
    replay = on_a_terminal(FAILS, 80)
    assert replay.code == 1
    assert without_seconds(replay.last) == [
        "the snapshot f2fs-100 is made again",
        "  make, mount and populate the filesystem, rehearse: done, N s",
        "prepare a board and save its snapshot: failed, N s",
        "commitpath: no luck",
    ]


def test_ctrl_c_leaves_a_clean_line() -> None:
    handled = STEPS.replace(
        "import sys, time", "import sys, time\nsys.excepthook = lambda *_: print('stopped')"
    )
    replay = on_a_terminal(handled, 80, interrupt_after=2)
    assert without_seconds(replay.last) == [
        "  make, mount and populate the filesystem, rehearse: interrupted, N s",
        "prepare a board and save its snapshot: interrupted, N s",
        "stopped",
    ]


def test_a_sweeps_line_is_drawn_over_however_long(tmp_path: Path) -> None:
    replay = on_a_terminal(SWEEP.format(state=str(tmp_path)), 40)
    assert re.fullmatch(
        r"sweep 0:[0-9]{2}: 1 of 2 boards prepared, 1008 done, 0 failed, 192 left; "
        r"time to the end about [0-9]+:[0-9]{2}:[0-9]{2}",
        re.sub(r"\s+", " ", " ".join(replay.last)),
    )
    assert all(" ".join(lines).count("sweep ") <= 1 for lines in replay.screens), replay.screens
    # 8 looks in 2.4 s; it is drawn once a second, at the begin and at the end
    assert 2 <= replay.written.count(b"sweep ") <= replay.seconds + 3


def test_a_file_gets_whole_lines() -> None:
    done = subprocess.run([sys.executable, "-c", STEPS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert without_seconds(done.stderr.split("\n")) == [
        "prepare a board and save its snapshot …",
        "  make, mount and populate the filesystem, rehearse …",
        "the snapshot f2fs-100 is made again",
        "  make, mount and populate the filesystem, rehearse: done, N s",
        "prepare a board and save its snapshot: done, N s",
        "",
    ]
    assert "\x1b" not in done.stderr and "\r" not in done.stderr


def test_an_interrupted_sweep_says_how_it_goes_on_and_a_new_one_takes_earlier_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "STATE", tmp_path)
    for kind, name, seconds in (("done", "a", 10), ("done", "of-an-earlier-sweep", 30)):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / name).write_text(json.dumps({"seconds": seconds}))
    begun = progress.Progress(["a", "b"], [], 1, 3)
    assert begun.text() == "4 done, 0 failed, 1 left; time to the end about 0:10"
    assert begun.stopped() == "sweep: 4 of 5 runs done; the same command goes on"
    assert progress.Progress(["b", "c"], [], 1, 0).text().endswith("time to the end about 0:40")
