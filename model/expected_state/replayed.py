"""What a database must hold after transactions of SQL that a cell has as text: SQLite plays them, one by one.

It is the SQLite of this Python, in memory: nothing of the board enters, neither its release nor its engine.
Where another release would give other rows, the run's ends tell (checks/crash.py). It runs in a process of
its own that can do no harm (player.py).
"""

import functools
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from base.paths import ROOT
from model import userfile
from model.expected_state import player
from model.expected_state.hashes import Held
from model.expected_state.player import Played, UnknownError


def play(profile: Mapping[str, Any], asked: frozenset[int] = frozenset()) -> Played:
    """Play the transactions of a cell's text (profiles.file), and look after each number that is asked for.

    Raises UnknownError for one that fails, or whose outcome is not the statements' alone.
    """
    return _play(*userfile.text_of(profile), asked)


# verdict, checks and files of a run ask for the same
@functools.lru_cache(maxsize=4)
def _play(kind: str, text: str, asked: frozenset[int]) -> Played:
    done = subprocess.run(
        [sys.executable, "-m", player.__name__],
        cwd=ROOT,
        input=json.dumps((kind, text, sorted(asked))),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == player.UNKNOWN:
        raise UnknownError(done.stdout.rstrip("\n"))
    if done.returncode:
        said = done.stderr.splitlines() or [f"status {done.returncode}"]
        ended = signal.Signals(-done.returncode).name if done.returncode < 0 else said[-1]
        raise UnknownError(f"line 1: this host's SQLite does not play it to the end ({ended})")
    found = json.loads(done.stdout)
    return Played({number: Held(rows, total) for number, rows, total in found["after"]}, found["bytes"])
