"""Have a flashsim device show past states, and compare with what was written.

usage (on the board): history.py
    for a /dev/target with a cache. Prints a line per check; exit 1 if one failed.
"""

import errno
import os
import random
import sys

from power_cut import FLASH, REGION, SECTOR, Device, check, counter, failed

HISTORY = FLASH / "history"
ROUNDS = 60


class Written:
    """What was done to a fresh device, in the order of its commands' numbers."""

    def __init__(self, generator, count):
        HISTORY.write_text("0")
        device = Device()
        device.discard(0, REGION)
        HISTORY.write_text("1")
        (FLASH / "reset").write_text("1")
        self.changes = []  # (number, sector, sectors, what each holds then)
        there = set()
        for _ in range(count):
            size = generator.choice([1, 2, 3, 7, 8, 9, 16, 24])
            sector = generator.randrange(REGION - size)
            number = counter("log_entries")
            if generator.random() < 0.15:
                # of a whole page, which is there or not; of one that is not there it changes nothing
                device.discard(sector // 8 * 8, 8)
                if sector // 8 in there:
                    self.changes.append((number, sector // 8 * 8, 8, 0))
                there.discard(sector // 8)
            else:
                device.write(sector, size, fua=generator.random() < 0.1)
                self.changes.append((number, sector, size, len(device.writes)))
                there.update(range(sector // 8, (sector + size - 1) // 8 + 1))
            if generator.random() < 0.2:
                device.flush()
        self.commands = counter("log_entries")
        os.close(device.fd)

    def state(self, first, kept, torn):
        """What the region holds after all commands before `first`, those kept, and a part of one."""
        state = [0] * REGION
        for number, sector, size, value in self.changes:
            if number < first or number in kept:
                state[sector : sector + size] = [value] * size
            elif torn and torn[0] == number:
                begin, count = torn[1:]
                state[sector + begin : sector + begin + count] = [value] * count
        return state


def shown():
    device = Device()
    state = device.read()
    os.close(device.fd)
    return state


def scribble():
    """Write on what is shown, as a filesystem that comes up does."""
    device = Device()
    device.write(3, 50)
    device.discard(16, 16)
    device.flush()
    os.close(device.fd)


def error_of(words):
    try:
        HISTORY.write_text(words)
    except OSError as error:
        return error.errno
    return 0


def check_states():
    wrong = []
    for seed in range(4):
        generator = random.Random(seed)
        written = Written(generator, 40)
        numbers = [change[0] for change in written.changes]
        for turn in range(ROUNDS):
            first = generator.randrange(written.commands + 1)
            behind = [number for number in numbers if number >= first]
            kept = [number for number in behind if generator.random() < 0.5]
            torn = None
            writes = [
                change for change in written.changes if change[0] in kept and change[3] and change[2] > 1
            ]
            if writes and generator.random() < 0.5:
                number, _, size, _ = generator.choice(writes)
                begin = generator.randrange(size - 1)
                torn = (number, begin, generator.randrange(1, size - begin))
                kept.remove(number)
            words = sorted([*kept, *([torn[0]] if torn else [])])
            part = {torn[0]: f"{torn[0]}:{torn[1]}+{torn[2]}"} if torn else {}
            HISTORY.write_text(f"show {first}")
            # in two writes, as a long list comes
            for some in (words[: len(words) // 2], words[len(words) // 2 :]):
                if some:
                    HISTORY.write_text("keep " + " ".join(part.get(number, str(number)) for number in some))
            if shown() != written.state(first, kept, torn):
                wrong.append(f"seed {seed}, turn {turn}: show {first} keep {words} {torn}")
            if generator.random() < 0.5:
                scribble()
        HISTORY.write_text(f"show {written.commands}")
        if shown() != written.state(written.commands, [], None):
            wrong.append(f"seed {seed}: the end")
        (FLASH / "reset").write_text("1")
        if shown() != written.state(written.commands, [], None):
            wrong.append(f"seed {seed}: after a reset")
    check(
        "history: every state is what was written until then, whatever was done to the one before",
        not wrong,
        wrong[:3],
    )


def check_ranges():
    written = Written(random.Random(9), 30)
    HISTORY.write_text("show 0")
    HISTORY.write_text(f"keep 0-{written.commands}")
    check("history: a range is all in it", shown() == written.state(written.commands, [], None))


def check_refused():
    written = Written(random.Random(5), 10)
    number = written.changes[3][0]
    bad = {
        f"show {written.commands + 1}": errno.EINVAL,
        "keep 1": errno.EINVAL,
        "show": errno.EINVAL,
        "show x": errno.EINVAL,
        "2": errno.EINVAL,
    }
    wrong = [words for words, wanted in bad.items() if error_of(words) != wanted]
    HISTORY.write_text("show 0")
    HISTORY.write_text(f"keep {number}")
    again = (f"keep {number}", "keep 0", "keep", "keep 1-2:0+1", f"keep {number + 1}:1", "keep x")
    wrong += [words for words in again if error_of(words) != errno.EINVAL]
    check("history: what is beyond the log, out of order or no number is refused", not wrong, wrong)
    device = Device()
    check("history: nothing is shown to who has the device open", error_of("show 0") == errno.EBUSY)
    check("history: no power is cut meanwhile", cut_error() == errno.EBUSY)
    os.close(device.fd)
    HISTORY.write_text("0")
    check("history: without one nothing is shown", error_of("show 0") == errno.EINVAL)
    check("history: and the device holds what it did", shown() == written.state(written.commands, [], None))


def cut_error():
    try:
        (FLASH / "power_cut").write_text("all")
    except OSError as error:
        return error.errno
    return 0


def check_memory():
    written = Written(random.Random(3), 200)
    held = counter("held_bytes")
    HISTORY.write_text("show 0")
    HISTORY.write_text(f"show {written.commands}")
    check(
        "history: as many pages are held as before", counter("held_bytes") == held and held <= REGION * SECTOR
    )
    (FLASH / "reset").write_text("1")


if __name__ == "__main__":
    for each in (check_states, check_ranges, check_refused, check_memory):
        each()
    sys.exit(bool(failed))
