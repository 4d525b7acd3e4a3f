"""Two calls of `make experiment` at once, with one cache."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ["make", "-s", "-C", str(ROOT), "experiment", "FS=ext4", "ROWS=1000", "N=50"]


def test_both_finish() -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    both = [
        subprocess.Popen(COMMAND, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=clean)
        for _ in range(2)
    ]
    for process in both:
        said = process.communicate(timeout=300)[1]
        assert process.returncode == 0, said
