"""Command sequences of SQLite and ext4 that test a fitted device model; they are not used in the fit."""

import random
from collections.abc import Callable, Iterator

from commitpath.fitting.experiment_lists import KIB, MIB, MS, Facts, Row, empty_cache

PAGE = 4 * KIB
# places of a filesystem: journal of the filesystem, database, SQLite's journal or WAL
JBD2, DATABASE, JOURNAL = 512 * MIB, 600 * MIB, 700 * MIB
DATABASE_PAGES = 5000


def sync(facts: Facts) -> Iterator[Row]:
    """Yield a FLUSH, where the kernel sends one."""
    if facts.write_cache:
        yield Row("", "F", 0, 0)


def forced(facts: Facts, offset: int, size: int = PAGE) -> Iterator[Row]:
    """Yield a write with FUA, or a write and a FLUSH in its place."""
    yield Row("", "f" if facts.fua else "w", offset, size)
    if not facts.fua:
        yield from sync(facts)


def random_writes(_: Facts, draw: random.Random) -> Iterator[Row]:
    """Random writes of 4 KiB in 100 MiB."""
    for _turn in range(1000):
        yield Row("", "w", DATABASE + draw.randrange(100 * MIB // PAGE) * PAGE, PAGE)


def synced_writes(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Random writes of 4 KiB in 100 MiB, each with a FLUSH."""
    for _ in range(300):
        yield Row("", "w", DATABASE + draw.randrange(100 * MIB // PAGE) * PAGE, PAGE)
        yield from sync(facts)


def commit(facts: Facts, number: int, blocks: int) -> Iterator[Row]:
    """Yield a commit of jbd2: descriptor and blocks, a FLUSH, the commit block with FUA."""
    place = JBD2 + number * 32 * KIB % (30 * MIB)
    yield Row("", "w", place, blocks * PAGE)
    yield from sync(facts)
    yield from forced(facts, place + blocks * PAGE)


def sqlite_delete(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """SQLite's mode DELETE with synchronous=FULL on ext4: journal, its header, pages; each sync commits."""
    for number in range(60):
        journal = JOURNAL + number * 16 * KIB % (20 * MIB)
        yield Row("", "w", journal, 3 * PAGE)
        yield from commit(facts, 2 * number, 5)
        yield Row("", "w", journal, PAGE)
        yield from sync(facts)
        for _ in range(3):
            yield Row("", "w", DATABASE + draw.randrange(DATABASE_PAGES) * PAGE, PAGE)
        yield from sync(facts)
        yield from commit(facts, 2 * number + 1, 4)


def sqlite_wal(facts: Facts, _: random.Random) -> Iterator[Row]:
    """SQLite's mode WAL with synchronous=FULL: frames at the end of the WAL, a FLUSH."""
    for number in range(250):
        yield Row("", "w", JOURNAL + 40 * MIB + number * 12 * KIB, 4 * PAGE if number % 4 == 0 else 3 * PAGE)
        yield from sync(facts)


def checkpoint(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Checkpoints of 250 pages at random, in ascending order, with a FLUSH."""
    for _ in range(3):
        for page in sorted(draw.sample(range(DATABASE_PAGES), 250)):
            yield Row("", "w", DATABASE + page * PAGE, PAGE)
        yield from sync(facts)


SEQUENCES: dict[str, Callable[[Facts, random.Random], Iterator[Row]]] = {
    "random write 4 KiB, 100 MiB": random_writes,
    "4 KiB + FLUSH": synced_writes,
    "SQLite DELETE/FULL on ext4": sqlite_delete,
    "SQLite WAL commit": sqlite_wal,
    "checkpoint, 250 random pages": checkpoint,
}


def sequences(facts: Facts) -> dict[str, list[Row]]:
    """Return the rows of each sequence; all begin with an idle device."""
    return {
        name: [*empty_cache(facts, 1000 * MS), *make(facts, random.Random(name))]
        for name, make in SEQUENCES.items()
    }
