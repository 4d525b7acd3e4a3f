"""Sync files in other ways than fsync; reuse blocks of deleted files; and outlive the watched command."""

import ctypes
import mmap
import os
import struct
import time
from pathlib import Path

N = 8
PAGE = b"w" * 4096
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int) -> None:
    """Call a function of libc, which returns a negative number where it fails."""
    if getattr(libc, name)(*map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), name)


def opened(name: str, flags: int = 0) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | flags)


def io_uring() -> None:
    """Write and fsync by the ring of io_uring(7), without its library."""
    setup, enter = 425, 426
    parameters = ctypes.create_string_buffer(120)
    ring = libc.syscall(setup, 2 * N, parameters)
    if ring < 0:
        raise OSError(ctypes.get_errno(), "io_uring_setup")
    # of io_uring_params sq_off, and the first and the last of cq_off
    _, tail, mask, _, _, _, array = struct.unpack_from("7I", parameters, 40)
    head, done = (struct.unpack_from("I", parameters, place)[0] for place in (80, 100))
    queue, entries = mmap.mmap(ring, 4096, offset=0), mmap.mmap(ring, 4096, offset=0x10000000)
    file, page = opened("uring"), ctypes.create_string_buffer(PAGE, len(PAGE))
    (mask,) = struct.unpack_from("I", queue, mask)
    for number in range(2 * N):
        place = number & mask
        write, fsync = (
            (23, 0, 0, file, number // 2 * 4096, ctypes.addressof(page), 4096),
            (3, 0, 0, file, 0, 0, 0),
        )
        struct.pack_into("BBHiQQI36x", entries, 64 * place, *(fsync if number % 2 else write))
        struct.pack_into("I", queue, array + 4 * place, place)
        struct.pack_into("I", queue, tail, number + 1)
        if libc.syscall(enter, ring, 1, 1, 1, None, 0) != 1:
            raise OSError(ctypes.get_errno(), "io_uring_enter")
        # a completion is user_data, res, flags; one that is not taken would count for the next wait
        if (result := struct.unpack_from("i", queue, done + 16 * number + 8)[0]) != (number + 1) % 2 * 4096:
            raise OSError(f"io_uring returned {result}")
        struct.pack_into("I", queue, head, number + 1)


def msync() -> None:
    file = opened("mapped")
    os.ftruncate(file, N * 4096)
    memory = mmap.mmap(file, N * 4096)
    for place in range(0, N * 4096, 4096):
        memory[place : place + 4096] = PAGE
        memory.flush(place, 4096)


def synchronous() -> None:
    for name, flags, each in (("o_sync", os.O_SYNC, 0), ("o_dsync", os.O_DSYNC, 0), ("rwf", 0, os.RWF_DSYNC)):
        file = opened(name, flags)
        for place in range(N):
            os.pwritev(file, [PAGE], place * 4096, each)


def others() -> None:
    """What is no sync of a file."""
    for name, sync in {
        "sync": lambda _: os.sync(),
        "syncfs": lambda file: call("syncfs", file),
        "range": lambda file: call("sync_file_range", file, 0, 0, 7),
    }.items():
        file = opened(name)
        for place in range(N):
            os.pwrite(file, PAGE, place * 4096)
            sync(file)


def used_again() -> None:
    """Directories in blocks of files that are gone."""
    for number in range(N):
        file = opened("gone")
        os.pwrite(file, PAGE * 4, 0)
        os.fsync(file)
        os.close(file)
        Path("gone").unlink()
        os.sync()
        Path(f"folder-{number}").mkdir()


def outlives() -> None:
    """A process of its own session that goes on when the command has ended."""
    if os.fork():
        return
    os.setsid()
    file = opened("outlives")
    for place in range(N):
        time.sleep(0.1)
        os.pwrite(file, PAGE, place * 4096)
        os.fsync(file)
    os._exit(0)


for way in (io_uring, msync, synchronous, others, used_again, outlives):
    way()
