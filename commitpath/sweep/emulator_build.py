"""Build our QEMU while a long sweep of virtual boards runs on Debian's; boards that start later use it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from base.paths import CACHE, PYTHON, ROOT
from images import emulator
from model.cell import Cell

# Runs from which on a sweep is long enough.
MANY_RUNS = 20
# The sweep's boards come first.
NICE = 5
LOG = CACHE / "log/emulator-meanwhile.log"
COMMAND = ("nice", "-n", str(NICE), *PYTHON, "-m", "commitpath", "emulator")


def wanted(cells: Sequence[Cell]) -> bool:
    """Return whether it is missing and worth it: for many runs, of which none has a real clock to disturb."""
    virtual = all(cell.clock == "virtual" for cell in cells)
    many = len(cells) > MANY_RUNS
    return many and virtual and not os.environ.get("COMMITPATH_EMULATOR") and emulator.can_be_built()


@contextlib.contextmanager
def meanwhile(cells: Sequence[Cell]) -> Iterator[None]:
    """Build it during the block if it is wanted; stop what is not done at its end."""
    if not wanted(cells):
        yield
        return
    print(
        f"QEMU with our patch is built meanwhile (once; not with EMULATOR=stock): it takes "
        f"{emulator.OF_STOCK} of the time of Debian's for the same numbers",
        file=sys.stderr,
    )
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("wb") as log, build(log) as process:
        yield
        ended = process.poll()
    if ended is None:
        print("QEMU with our patch is not done; `make emulator` builds it", file=sys.stderr)
    elif ended:
        print(f"QEMU with our patch could not be built: {LOG}", file=sys.stderr)


@contextlib.contextmanager
def build(log: BinaryIO) -> Iterator[subprocess.Popen[bytes]]:
    """Start the build in a process group of its own, which a Ctrl-C of the sweep does not reach; end it."""
    # of this checkout, wherever the sweep was called
    process = subprocess.Popen(
        COMMAND, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, process_group=0
    )
    try:
        yield process
    finally:
        # to its handler, which removes what is half-made
        process.terminate()
        process.wait()
