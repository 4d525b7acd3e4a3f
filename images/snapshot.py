"""Store, verify, list and remove snapshots of prepared boards, which every run restores.

A snapshot is a folder: `ram` (the guest's memory, a sparse file that a run maps privately, so that restoring
copies nothing), `state` (devices), `snapshot.json`.
"""

import contextlib
import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xxhash

from base import scratch
from base.errors import LabError

# In QEMU's stream: a subsection's mark, the length of its name, the name, a version (4 bytes),
# vm_clock_warp_start and the timer (8 bytes each): migration/vmstate.c and softmmu/cpu-timers.c.
WARP_TIMER = b"timer/icount/warp_timer"
WARP_TIMER_BYTES = 2 + len(WARP_TIMER) + 4 + 8 + 8
# Unit of hashing, skipped if all zeros; aligned, so that the filesystem's holes do not matter. Smaller blocks
# are slow in Python, larger ones read many zeros.
BLOCK = 64 << 10
ZEROS = bytes(BLOCK)
# One used more lately may be about to be restored. From then on its files stay, as QEMU has them open.
IN_USE_SECONDS = 300


class SnapshotError(LabError):
    """A stored snapshot is damaged; it can be made again."""

    def __init__(self, folder: Path, fault: str) -> None:
        super().__init__(f"the snapshot {folder.name}: {fault}")
        self.folder = folder


def without_warp_timer(state: bytes) -> bytes:
    """Convert device state saved under sleep=on so that a machine with sleep=off loads it.

    The timer that lets real time pass while the guest idles exists only under sleep=on; QEMU 7.2 fails an
    assertion when loading it into a machine without it.
    """
    mark = b"\x05" + bytes([len(WARP_TIMER)]) + WARP_TIMER
    if state.count(mark) == 0:
        return state  # saved under sleep=off
    if state.count(mark) > 1:
        raise LabError(f"QEMU's state has {state.count(mark)} warp timers, expected one at most")
    start = state.index(mark)
    return state[:start] + state[start + WARP_TIMER_BYTES :]


def content_hash(path: Path) -> str:
    """Return the XXH3 of a sparse file's non-zero blocks, with their places, and of its size.

    Files with the same bytes have the same hash, wherever their holes are. This runs in parallel with every
    run, to find damaged files, on a CPU that a board needs (cost: docs/measurements/performance.md).
    """
    digest = xxhash.xxh3_128()
    with path.open("rb", buffering=0) as file:
        number = file.fileno()
        size = os.fstat(number).st_size
        digest.update(size.to_bytes(8, "little"))
        offset = 0
        while offset < size:
            try:
                data = os.lseek(number, offset, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                break  # only a hole remains
            hole = os.lseek(number, data, os.SEEK_HOLE)
            offset = data - data % BLOCK
            while offset < hole:
                block = os.pread(number, BLOCK, offset)
                if block != ZEROS[: len(block)]:
                    digest.update(offset.to_bytes(8, "little"))
                    digest.update(block)
                offset += BLOCK
    return digest.hexdigest()


def write(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Write snapshot.json: the snapshot's hashes and inputs."""
    state = folder / "state"
    state.write_bytes(without_warp_timer(state.read_bytes()))
    meta = {
        "inputs": inputs,
        "state_xxh3": xxhash.xxh3_128_hexdigest(state.read_bytes()),
        "ram_content_xxh3": content_hash(folder / "ram"),
        "ram_bytes": (folder / "ram").stat().st_size,
    }
    (folder / "snapshot.json").write_text(json.dumps(meta, indent=2, sort_keys=True) + "\n")
    scratch.make_private(folder)


def read_meta(folder: Path) -> dict[str, Any]:
    """Return snapshot.json; OSError, ValueError or KeyError if invalid."""
    meta: dict[str, Any] = json.loads((folder / "snapshot.json").read_text())
    return {key: meta[key] for key in ("inputs", "state_xxh3", "ram_content_xxh3", "ram_bytes")}


def fault(folder: Path, memory: bool = False) -> str | None:
    """Return the fault of a stored snapshot, or None; memory: check only its memory's content."""
    try:
        meta = read_meta(folder)
        if memory:
            same = content_hash(folder / "ram") == meta["ram_content_xxh3"]
            return None if same else "its memory is not what was saved"
        if xxhash.xxh3_128_hexdigest((folder / "state").read_bytes()) != meta["state_xxh3"]:
            return "its device state is not what was saved"
        if (folder / "ram").stat().st_size != meta["ram_bytes"]:
            return "its memory has another size than was saved"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"it is incomplete: {error}"
    return None


def ram_fault(folder: Path) -> str | None:
    """Return the fault of a snapshot's memory; reading it takes seconds, in parallel with a run."""
    return fault(folder, memory=True)


def stored(folder: Path) -> list[tuple[Path, int, dict[str, Any] | None]]:
    """Return (folder, bytes on disk, inputs or None if incomplete) of each snapshot in the cache."""
    found: list[tuple[Path, int, dict[str, Any] | None]] = []
    for saved in sorted(path for path in folder.glob("*/") if path.suffix != ".part"):
        try:
            used = sum(path.stat().st_blocks * 512 for path in saved.iterdir())
        except FileNotFoundError:
            continue
        try:
            found.append((saved, used, read_meta(saved)["inputs"]))
        except (OSError, ValueError, KeyError, TypeError):
            found.append((saved, used, None))
    return found


def mark_used(folder: Path) -> None:
    """Record in the folder's time that its snapshot is in use."""
    with contextlib.suppress(FileNotFoundError):
        os.utime(folder)


def make_room(folder: Path, mib: int) -> None:
    """Remove the snapshots of FOLDER unused for longest until its disk has MIB free, with a line for each.

    Those used in the last IN_USE_SECONDS stay. A removed one is made again when it is needed.
    """
    if shutil.disk_usage(folder.parent).free >= mib << 20:
        return
    times: dict[Path, float] = {}
    for saved, _, _ in stored(folder):
        with contextlib.suppress(FileNotFoundError):
            times[saved] = saved.stat().st_mtime
    for saved, used in sorted(times.items(), key=lambda item: item[1]):
        minutes = (time.time() - used) / 60
        if shutil.disk_usage(folder).free >= mib << 20 or minutes * 60 < IN_USE_SECONDS:
            return
        print(
            f"for room on the disk: removed the snapshot {saved.name}, unused for {minutes:.0f} min",
            file=sys.stderr,
        )
        remove(saved)


def saved_by_another_qemu(folder: Path, inputs: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Return (folder, QEMU) of stored snapshots that differ from INPUTS only in QEMU's version.

    FOLDER is the place for INPUTS. Attached probes make no difference here.
    """
    ignored = {"qemu": None, "probes": None}
    return [
        (other, found["qemu"])
        for other, _, found in stored(folder.parent)
        if found and found.get("qemu") != inputs["qemu"] and {**found, **ignored} == {**inputs, **ignored}
    ]


def remove(folder: Path) -> None:
    """Delete a snapshot, unless another process is deleting it; and its lock, unless one is making it."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
    scratch.remove_lock(folder.with_name(folder.name + scratch.LOCK))
