"""Record CPU frequency, temperature, disk counters, … before and after a run, its disk and kernel config.

usage: covariates.py begin            before the load; leaves covariates.begin
       covariates.py end FOLDER       after it; FOLDER gets covariates.json and kernel-config.gz
Reads device.env. Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from readings import Board, unreadable

if TYPE_CHECKING:
    from readings import Values

HERE = Path(__file__).resolve().parent
# Properties of a card, an eMMC or a disk; each has some of them.
OF_DISK = (
    *("name", "type", "cid", "csd", "fwrev", "hwrev", "life_time", "pre_eol_info"),
    *("model", "vendor", "rev", "firmware_rev"),
)


def edge(board: Board, last: bool) -> Values:
    """Return the values read before and after a run, with the counters closest to it."""
    counters = counted(board) if last else {}
    values = {
        "time_ns": str(time.monotonic_ns()),
        "boot_id": board.text("proc/sys/kernel/random/boot_id"),
        "clocksource": board.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "mounts": board.mounts(),
        **board.frequencies(),
        **board.throttled(),
        **board.temperatures(),
        **board.card(),
        **board.pressure(),
    }
    return {**values, **(counters or counted(board))}


def counted(board: Board) -> Values:
    """Return the counters of the partition and its disk, and the times before and after reading them."""
    begin, counters = str(time.monotonic_ns()), board.stat()
    return {"counted_from_ns": begin, **counters, "counted_until_ns": str(time.monotonic_ns())}


def itself(board: Board) -> Values:
    """Return properties that do not change during a run."""
    there = [name for name in OF_DISK if (board.disk / "device" / name).exists()]
    worn = {"life_time", "pre_eol_info", "fwrev", "cid", "csd"} if board.card() else set()
    values = {f"disk/{name}": board.text(board.disk / "device" / name) for name in sorted({*there, *worn})}
    values.update(
        (f"queue/{name}", board.text(board.disk / "queue" / name)) for name in ("write_cache", "scheduler")
    )
    return values


def kernel_config(board: Board) -> tuple[Values, bytes]:
    """Return the kernel configuration's place and SHA-256, and its text."""
    release = board.text("proc/sys/kernel/osrelease")
    for name in ("proc/config.gz", f"boot/config-{release}", f"lib/modules/{release}/config"):
        try:
            content = (board.root / name).read_bytes()
        except OSError:
            continue
        text = gzip.decompress(content) if name.endswith(".gz") else content
        return {
            "kernel_config": f"/{name}",
            "kernel_config_sha256": hashlib.sha256(text).hexdigest(),
        }, text
    return {"kernel_config": unreadable("neither in /proc/config.gz nor in /boot nor in /lib/modules")}, b""


def of_device() -> Board:
    """Return this machine with the verified device."""
    lines = (HERE / "device.env").read_text().split()
    return Board(Path("/"), dict(line.split("=", 1) for line in lines)["DEVICE_NUMBER"])


def main(what: str, folder: str = "") -> None:
    board, begin = of_device(), HERE / "covariates.begin"
    if what == "begin":
        begin.write_text(json.dumps(edge(board, last=False)))
        return
    end = edge(board, last=True)
    of_kernel, config = kernel_config(board)
    document = {"begin": json.loads(begin.read_text()), "end": end, "board": {**itself(board), **of_kernel}}
    Path(folder, "covariates.json").write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    if config:
        Path(folder, "kernel-config.gz").write_bytes(gzip.compress(config, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
