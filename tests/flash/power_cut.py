"""Cut the power of a flashsim device and compare what it holds with what it may hold.

usage (on the board): power_cut.py fifo|reorder|none
    for a /dev/target with that kind of cache. Prints a line per check; exit 1 if one failed.

Every write fills its sectors with its own number. What may be left after a cut is worked out
here from the list of writes alone: a write before a completed flush and a FUA write stay, of
the others a FIFO cache keeps a prefix, a reordering one any.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import random
import struct
import sys
import threading
import time
from pathlib import Path

SECTOR = 512
REGION = 256
FLASH = Path("/sys/block/target/flashsim")
BLKDISCARD = 0x1277
# Linux's asynchronous I/O, on arm64
IO_SETUP, IO_SUBMIT, IO_GETEVENTS, IOCB_CMD_PWRITE = 0, 2, 4, 1
LIBC = ctypes.CDLL(None, use_errno=True)
failed = []


def check(name, good, detail=""):
    print(f"{'ok' if good else 'not ok'} - {name}{'' if good else f': {detail}'}", flush=True)
    if not good:
        failed.append(name)


class Device:
    """The device, its writes by number, and which of them nothing can take."""

    def __init__(self):
        self.fd = os.open("/dev/target", os.O_RDWR | os.O_DIRECT)
        self.buffer = mmap.mmap(-1, REGION * SECTOR)
        self.context = ctypes.c_ulong(0)
        LIBC.syscall(IO_SETUP, ctypes.c_long(1), ctypes.byref(self.context))
        self.writes = []
        self.durable = set()

    def write(self, sector, count, fua=False):
        number = len(self.writes)
        self.buffer.seek(0)
        self.buffer.write(struct.pack("<Q", number + 1) * (count * SECTOR // 8))
        if fua:
            self.write_fua(sector, count)
        else:
            os.pwrite(self.fd, memoryview(self.buffer)[: count * SECTOR], sector * SECTOR)
        self.writes.append((sector, count))
        if fua:
            self.durable.add(number)

    def write_fua(self, sector, count):
        """By asynchronous I/O: after a synchronous FUA write the kernel sends a FLUSH."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        command = ctypes.create_string_buffer(
            struct.pack("<QIiHHIQQqQII", 0, 0, os.RWF_DSYNC, IOCB_CMD_PWRITE, 0, self.fd,
                        address, count * SECTOR, sector * SECTOR, 0, 0, 0)
        )  # fmt: skip
        pointer = ctypes.c_void_p(ctypes.addressof(command))
        event = (ctypes.c_int64 * 4)()
        if LIBC.syscall(IO_SUBMIT, self.context, ctypes.c_long(1), ctypes.byref(pointer)) != 1:
            raise OSError(ctypes.get_errno(), "io_submit")
        LIBC.syscall(IO_GETEVENTS, self.context, ctypes.c_long(1), ctypes.c_long(1), event, None)
        if event[2] != count * SECTOR:
            raise OSError(-event[2], "FUA write")

    def flush(self):
        os.fsync(self.fd)
        self.durable.update(range(len(self.writes)))

    def discard(self, sector, count):
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("<QQ", sector * SECTOR, count * SECTOR))

    def read(self):
        """The number in every sector; -1 where a sector is torn."""
        os.preadv(self.fd, [self.buffer], 0)
        out = []
        for i in range(REGION):
            words = set(struct.unpack("<64Q", self.buffer[i * SECTOR : (i + 1) * SECTOR]))
            out.append(words.pop() if len(words) == 1 else -1)
        return out

    def losable(self):
        return [n for n in range(len(self.writes)) if n not in self.durable]

    def expected(self, kept):
        """What the region holds when of the losable writes just these are left."""
        state = [0] * REGION
        for number, (sector, count) in enumerate(self.writes):
            if number in self.durable or number in kept:
                state[sector : sector + count] = [number + 1] * count
        return state


def counter(name):
    lines = (FLASH / "stats").read_text().split()
    return int(dict(line.split("=") for line in lines)[name])


def cut(how, restore=True):
    (FLASH / "power_cut").write_text(how)
    if restore:
        (FLASH / "power_cut").write_text("0")


def fresh():
    """An empty region, nothing unflushed."""
    device = Device()
    device.discard(0, REGION)
    (FLASH / "reset").write_text("1")
    return device


def scribble(generator, device, overlap=True, fua=True):
    """Some writes, a flush, more writes, some of them FUA."""
    count = generator.randrange(8, 30)
    flush_at = generator.randrange(count)
    for i in range(count):
        size = generator.choice([1, 2, 3, 7, 8, 9, 16, 24])
        sector = generator.randrange(REGION - size) if overlap else i * 8
        device.write(sector, size if overlap else 8, fua and generator.random() < 0.2)
        if i == flush_at:
            device.flush()


def check_fifo():
    lengths = set()
    wrong = []
    for seed in range(12):
        device = fresh()
        scribble(random.Random(seed), device)
        losable = device.losable()
        if counter("unflushed") != len(losable):
            wrong.append(f"seed {seed}: {counter('unflushed')} unflushed, not {len(losable)}")
        cut(f"seed={seed}")
        kept = counter("cut_kept")
        lengths.add(kept / max(1, len(losable)))
        if counter("cut_lost") != len(losable) - kept:
            wrong.append(f"seed {seed}: {kept} kept and {counter('cut_lost')} lost of {len(losable)}")
        if device.read() != device.expected(losable[:kept]):
            wrong.append(f"seed {seed}: not the first {kept} of {len(losable)}")
    check("fifo: a prefix of the unflushed writes is left, flushed and FUA ones all", not wrong, wrong)
    check("fifo: the prefix's length varies", len(lengths) > 3, lengths)

    device = fresh()
    scribble(random.Random(99), device)
    cut("keep=3")
    check("fifo: keep=3 leaves three", device.read() == device.expected(device.losable()[:3]))


def check_reorder():
    wrong, holes, sets = [], 0, set()
    for seed in range(12):
        device = fresh()
        scribble(random.Random(seed), device, overlap=False, fua=seed % 2 == 0)
        losable = device.losable()
        cut(f"seed={seed}")
        state = device.read()
        kept = {n for n in losable if state[n * 8] == n + 1}
        if state != device.expected(kept) or len(kept) != counter("cut_kept"):
            wrong.append(f"seed {seed}: a write is torn, or a flushed or FUA one lost")
        holes += kept != set(losable[: len(kept)])
        sets.add(tuple(sorted(kept)))
    check("reorder: any unflushed writes are left, flushed and FUA ones all", not wrong, wrong)
    check("reorder: what is left is no prefix, and varies", holes > 3 and len(sets) > 3, (holes, sets))

    wrong = []
    for seed in range(12):
        device = fresh()
        scribble(random.Random(seed), device)
        cut(f"seed={seed}")
        for i, value in enumerate(device.read()):
            over = [n for n, (at, count) in enumerate(device.writes) if at <= i < at + count]
            last = max((n for n in over if n in device.durable), default=-1)
            if value not in {last + 1, *(n + 1 for n in over if n > last)}:
                wrong.append(f"seed {seed} sector {i}: {value}")
    check("reorder: overlapping writes never bring back what a durable one replaced", not wrong, wrong)


def check_common(kind):
    device = fresh()
    scribble(random.Random(7), device)
    cut("all")
    check(f"{kind}: all leaves only what is durable", device.read() == device.expected([]))
    device.write(0, 8)
    os.fsync(device.fd)
    device.durable.add(len(device.writes) - 1)
    cut("all")
    check(f"{kind}: works again after power is back", device.read() == device.expected([]))

    device = fresh()
    device.write(0, 16)
    device.flush()
    cut("1", restore=False)
    errors = []
    for command in (lambda: device.write(0, 8), device.read, lambda: os.fsync(device.fd)):
        try:
            command()
            errors.append(0)
        except OSError as error:
            errors.append(error.errno)
    cut("0", restore=False)
    check(f"{kind}: commands fail while power is off", errors[:2] == [errno.EIO] * 2, errors)
    check(f"{kind}: and change nothing", device.read() == device.expected([]))

    device = fresh()
    device.write(0, 64)
    device.flush()
    device.discard(3, 30)
    device.flush()
    cut("all")
    state = device.expected([])
    state[3:33] = [0] * 30
    check(f"{kind}: a flushed discard stays", device.read() == state)
    device.discard(40, 16)
    device.write(44, 2, fua=True)
    cut("all")
    left = device.read()
    check(
        f"{kind}: a FUA write over an unflushed discard stays",
        left[44:46] == [len(device.writes)] * 2 and left[:40] == state[:40] and left[56:] == state[56:],
        left,
    )

    device = fresh()
    device.write(8, 8)
    device.write(10, 1, fua=True)
    device.write(16, 16)
    device.write(20, 3, fua=True)
    cut("all")
    left = device.read()
    check(f"{kind}: a FUA write to part of a page that is lost stays", left == device.expected([]), left)
    check(f"{kind}: and can be written over", writes_again(device))


def writes_again(device):
    """After a cut, the device holds what is written to it."""
    device.write(0, REGION)
    return device.read() == [len(device.writes)] * REGION


def check_in_flight(flushed):
    """A FUA write that has not ended when power goes reports an error.

    flushed: a FLUSH was sent and ended while it was under way, which promises nothing about it.
    """
    what = "a FUA write under way, with a FLUSH behind it," if flushed else "a FUA write under way"
    parameter = Path("/sys/kernel/config/flashsim/target/program_ns")
    usual = parameter.read_text()
    device = fresh()
    device.write(0, 8)
    device.flush()
    parameter.write_text("900000000")
    result = []

    def slow():
        try:
            device.write(0, 8, fua=True)
            result.append(0)
        except OSError as error:
            result.append(error.errno)

    thread = threading.Thread(target=slow)
    thread.start()
    time.sleep(0.3)
    if flushed:
        os.fsync(device.fd)
    waited = thread.is_alive()
    cut("all")
    thread.join()
    parameter.write_text(usual)
    check(f"{what} when power goes fails", waited and result == [errno.EIO], result)
    check("and leaves what was there", device.read() == device.expected([]))


def main():
    kind = sys.argv[1]
    if kind == "none":
        device = fresh()
        scribble(random.Random(3), device)
        device.durable.update(range(len(device.writes)))
        cut("all")
        check("none: without a cache what is done is durable", device.read() == device.expected([]))
    elif kind == "fifo":
        check_fifo()
    else:
        check_reorder()
    if kind != "none":
        check_common(kind)
        check_in_flight(flushed=False)
        check_in_flight(flushed=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
