"""Execute a run's SQL with this Python's SQLite in memory; return the expected content after it.

The result depends neither on the board's release nor on its engine. If another release gives other rows, the
first and last trial differ (checks/trial_plan.py). The SQL runs in a sandboxed process (player.py).
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


def play(profile: Mapping[str, Any], numbers: frozenset[int] = frozenset()) -> Played:
    """Execute a cell's transactions (profiles.file); return the content after these numbers of them.

    Raises UnknownError for a transaction that fails or is not deterministic.
    """
    return _play(*userfile.text_of(profile), numbers)


# verdict, checks and files of a run request the same
@functools.lru_cache(maxsize=4)
def _play(kind: str, text: str, numbers: frozenset[int]) -> Played:
    done = subprocess.run(
        [sys.executable, "-m", player.__name__],
        cwd=ROOT,
        input=json.dumps((kind, text, sorted(numbers))),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == player.UNKNOWN:
        raise UnknownError(done.stdout.rstrip("\n"))
    if done.returncode:
        lines = done.stderr.splitlines() or [f"status {done.returncode}"]
        end = signal.Signals(-done.returncode).name if done.returncode < 0 else lines[-1]
        raise UnknownError(f"line 1: this host's SQLite does not play it to the end ({end})")
    played = json.loads(done.stdout)
    return Played({number: Held(rows, total) for number, rows, total in played["after"]}, played["bytes"])
