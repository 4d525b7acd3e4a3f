"""Replay a dm-log-writes log to each FLUSH: what the state holds, or whether the device's history has it.

usage: replay.py states | same      in log-writes.sh, with the variables of cell.env
  states  each FLUSH's state, under a snapshot as it would be written on, is mounted and looked at by the
          program that looks at ours (workloads/trials/): raw/trials.csv, and ns of each part in raw/parts.csv
  same    of some, by plan.csv (a line each: number of the FLUSH in the log, words of the device's history):
          is the device then, by its own history, what the log gives, in all bytes of written.csv (begin and
          end of each place)? raw/same.csv. Then the device's states are looked at, by the plan trials.gz:
          raw/trials.csv

The log's format is that of the kernel's Documentation/admin-guide/device-mapper/log-writes.rst and of the
head of drivers/md/dm-log-writes.c: a sector with magic, version, entries and bytes of a sector; for each
entry a sector with place, sectors, flags and bytes of a mark, the mark, and behind it the data, if any.
"""

import ctypes
import fcntl
import itertools
import mmap
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

MAGIC, VERSION = 0x6A736677736872, 1
FLUSH, DISCARD, MARK = 1, 4, 8
BLKDISCARD = 0x1277
REPLAYED, LOG, WRITTEN = "/dev/ram0", "/dev/ram1", "/dev/ram2"
STATE = "state"
# Words of one write to the device's history.
WORDS = 200
CHUNK = 1 << 20
FOLDER = Path("/run/commitpath")
RAW, CONTROL = FOLDER / "raw", FOLDER / "control"


def flushes(device: int) -> Iterator[tuple[int, bool]]:
    """Replay the log on a device; stop at each FLUSH: its number, and whether it is the run's."""
    log = os.open(LOG, os.O_RDONLY)
    magic, version, entries, unit = struct.unpack("<QQQI", os.pread(log, 28, 0))
    if (magic, version) != (MAGIC, VERSION):
        sys.exit(f"replay: {LOG} has no log of dm-log-writes of version {VERSION}")
    at, number, is_run = unit, 0, False
    for _ in range(entries):
        head = os.pread(log, unit, at)
        place, count, flags, size = struct.unpack_from("<4Q", head)
        at += unit
        if flags & MARK:
            is_run = head[32 : 32 + size] == b"begin"
        elif flags & DISCARD:
            fcntl.ioctl(device, BLKDISCARD, struct.pack("<QQ", place * unit, count * unit))
        else:
            os.pwrite(device, os.pread(log, count * unit, at), place * unit)
            at += count * unit
        if flags & FLUSH:
            os.fsync(device)
            yield number, is_run
            number += 1


def run(*words: str) -> None:
    """A program, or the end."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"replay: {' '.join(words[:3])}: {done.stderr.strip()}")


def looked(plan: str, device: str, control: str, every: int) -> list[str]:
    """What the program that looks at states says of those of a plan. It begins with an unmount."""
    (FOLDER / "plan").write_text(plan)
    at, out = os.environ["MOUNTPOINT"], FOLDER / "looked.csv"
    if ctypes.CDLL(None).mount(b"tmpfs", at.encode(), b"tmpfs", 0, None):
        sys.exit(f"replay: no tmpfs on {at}")
    fsck = f"{os.environ['FSCK']} {device}"
    # none is sampled
    words = [str(FOLDER / "bin/trials"), "cut", str(FOLDER / "plan"), str(out), "", "", device, control, at]
    words += [os.environ["FS_TYPE"], os.environ["MOUNT_OPTIONS"], fsck, str(every), "run"]
    run(*words, *os.environ["DRIVER_OPTIONS"].split(), "--output-dir", str(RAW / "driver"))
    return out.read_text().splitlines(keepends=True)


def states() -> None:
    """Look at each state of the run's."""
    CONTROL.mkdir()
    (CONTROL / "history").touch()
    (CONTROL / "stats").write_text("reads=0\nwrites=0\n")
    device, clock, every = os.open(REPLAYED, os.O_RDWR), time.monotonic_ns, int(os.environ["FSCK_EVERY"])
    table = f"0 {os.lseek(device, 0, os.SEEK_END) // 512} snapshot {REPLAYED} {WRITTEN} N 8"
    found, parts, head = 0, ["trial,replay_ns,snapshot_ns,look_ns,remove_ns\n"], ""
    begin = clock()
    with (RAW / "trials.csv").open("w") as output:
        for number, is_run in flushes(device):
            if not is_run:
                continue
            times = [begin, clock()]
            run("dmsetup", "create", STATE, "--table", table)
            times.append(clock())
            # fsck of every so many, as of ours
            look = every if found % every == 0 else 0
            head, line = looked(f"{number} 0\n", f"/dev/mapper/{STATE}", str(CONTROL), look)
            times.append(clock())
            run("dmsetup", "remove", STATE)
            times.append(clock())
            output.write(line if found else head + line)
            taken = [later - earlier for earlier, later in itertools.pairwise(times)]
            parts.append(f"{number},{','.join(map(str, taken))}\n")
            found, begin = found + 1, clock()
    (RAW / "parts.csv").write_text("".join(parts))


def difference(one: str, other: str) -> int:
    """The first byte in which two devices differ, of the places that the run wrote to; -1: in none."""
    buffers = [mmap.mmap(-1, CHUNK), mmap.mmap(-1, CHUNK)]
    files = [os.open(path, os.O_RDONLY | os.O_DIRECT) for path in (one, other)]
    try:
        for place in (FOLDER / "written.csv").read_text().splitlines():
            begin, end = map(int, place.split(","))
            for at in range(begin, end, CHUNK):
                size = min(CHUNK, end - at)
                for file, buffer in zip(files, buffers, strict=True):
                    os.preadv(file, [memoryview(buffer)[:size]], at)
                mine, its = (buffer[:size] for buffer in buffers)
                if mine != its:
                    return at + next(byte for byte in range(size) if mine[byte] != its[byte])
        return -1
    finally:
        for file in files:
            os.close(file)


def same() -> None:
    """Compare the device's own states with the log's, and look at them."""
    wanted: dict[int, list[list[str]]] = {}
    for line in (FOLDER / "plan.csv").read_text().splitlines():
        number, *words = line.split(",")
        wanted.setdefault(int(number), []).append(words)
    own, control = f"/dev/{os.environ['DEVICE_NAME']}", os.environ["DEVICE_CONTROL"]
    found = ["flush,first_difference\n"]
    device = os.open(REPLAYED, os.O_RDWR)
    for flush, _ in flushes(device):
        for first, *kept in wanted.get(flush, []):
            commands = [f"show {first}"]
            commands += [f"keep {' '.join(kept[at : at + WORDS])}" for at in range(0, len(kept), WORDS)]
            for command in commands:
                Path(control, "history").write_text(command)
            found.append(f"{flush},{difference(own, REPLAYED)}\n")
    (RAW / "same.csv").write_text("".join(found))
    run("gzip", "-d", "-f", str(FOLDER / "trials.gz"))
    plan = (FOLDER / "trials").read_text()
    (RAW / "trials.csv").write_text("".join(looked(plan, own, control, 0)))


if __name__ == "__main__":
    {"states": states, "same": same}[sys.argv[1]]()
