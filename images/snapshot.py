"""Snapshots of a prepared board: made once, restored for every run.

A snapshot is a folder: `ram` (the guest's memory, a sparse file that a run maps
privately, so restoring copies nothing), `state` (devices), `snapshot.json`.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath.errors import LabError

# In QEMU's stream: a subsection's mark, the length of its name, the name, a version
# (4 bytes), vm_clock_warp_start and the timer (8 bytes each): migration/vmstate.c and
# softmmu/cpu-timers.c.
WARP_TIMER = b"timer/icount/warp_timer"
WARP_TIMER_BYTES = 2 + len(WARP_TIMER) + 4 + 8 + 8


def without_warp_timer(state: bytes) -> bytes:
    """Device state of a machine with sleep=on, as one with sleep=off loads it.

    The timer that lets real time pass while the guest idles exists under sleep=on
    only; QEMU 7.2 asserts on loading it into a machine that has none.
    """
    mark = b"\x05" + bytes([len(WARP_TIMER)]) + WARP_TIMER
    if state.count(mark) == 0:
        return state  # saved under sleep=off
    if state.count(mark) > 1:
        raise LabError(f"QEMU's state has {state.count(mark)} warp timers, expected one at most")
    start = state.index(mark)
    return state[:start] + state[start + WARP_TIMER_BYTES :]


def data_hash(path: Path) -> str:
    """SHA-256 of a sparse file's data with its place; holes cost nothing."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        digest.update(size.to_bytes(8, "little"))
        offset = 0
        while offset < size:
            try:
                offset = os.lseek(file.fileno(), offset, os.SEEK_DATA)
            except OSError:
                break  # only a hole is left
            end = os.lseek(file.fileno(), offset, os.SEEK_HOLE)
            file.seek(offset)
            while offset < end:
                block = file.read(min(1 << 22, end - offset))
                # a page of zeros reads as a hole does, on any filesystem
                if block.count(0) != len(block):
                    digest.update(offset.to_bytes(8, "little"))
                    digest.update(block)
                offset += len(block)
    return digest.hexdigest()


def write(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Seal a snapshot: its hashes and what it was made from."""
    state = folder / "state"
    state.write_bytes(without_warp_timer(state.read_bytes()))
    meta = {
        "inputs": inputs,
        "state_sha256": hashlib.sha256(state.read_bytes()).hexdigest(),
        "ram_sha256": data_hash(folder / "ram"),
        "ram_bytes": (folder / "ram").stat().st_size,
    }
    (folder / "snapshot.json").write_text(json.dumps(meta, indent=2, sort_keys=True) + "\n")


def fault(folder: Path) -> str | None:
    """What is wrong with a stored snapshot, or None; its memory is checked by ram_fault."""
    try:
        meta = json.loads((folder / "snapshot.json").read_text())
        if hashlib.sha256((folder / "state").read_bytes()).hexdigest() != meta["state_sha256"]:
            return "its device state is not what was saved"
        if (folder / "ram").stat().st_size != meta["ram_bytes"]:
            return "its memory has not the size that was saved"
    except (OSError, ValueError, KeyError) as error:
        return f"it is not whole: {error}"
    return None


def ram_fault(folder: Path) -> str | None:
    """As fault, for the memory's content; takes about a second, so it runs beside a run."""
    meta = json.loads((folder / "snapshot.json").read_text())
    if data_hash(folder / "ram") != meta["ram_sha256"]:
        return "its memory is not what was saved"
    return None


def stored(folder: Path) -> list[tuple[str, int, dict[str, Any]]]:
    """(name, bytes on disk, inputs) of each snapshot in the cache."""
    found = []
    for meta in sorted(folder.glob("*/snapshot.json")):
        used = sum(path.stat().st_blocks * 512 for path in meta.parent.iterdir())
        found.append((meta.parent.name, used, json.loads(meta.read_text())["inputs"]))
    return found


def remove(folder: Path) -> None:
    """Delete one snapshot."""
    shutil.rmtree(folder)
