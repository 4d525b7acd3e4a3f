"""Recorded runs whose bytes were kept: what they say of the ledger, and of one that was spoiled."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from analysis import checks, content
from analysis import run as runs
from analysis.content import coverage
from analysis.ledger.build import Ledger
from analysis.observers import Content as Kept
from analysis.schemas.ledger import FILE, LABEL
from model import engines

NAMES = ("ext4-ordered-delete", "ext4-journal-truncate", "ext4-writeback-wal", "f2fs-delete", "f2fs-wal")
ROLES = {"database": "database page", "wal": "WAL", "journal": "rollback journal"}

Parts = tuple[Ledger, Kept]
Spoil = Callable[[Ledger, Kept], Parts]


def judged(run: runs.Run, spoil: Spoil, engine: str | None = None) -> content.Content:
    """What the bytes say when the ledger, or they, are spoiled; `engine`: another one than ran."""
    assert run.ledger is not None
    made, kept = spoil(run.ledger, run.contents["content"])
    config = run.driver.config
    name = engine or engines.name_in(config)
    given = content.Given(name, config["effective"], run.folder / "raw/board", run.board.superblock)
    return content.judge(made, kept, given)[1]


def pieces(made: Ledger, **columns: pl.Expr | pl.Series) -> Ledger:
    return replace(made, pieces=made.pieces.with_columns(**columns))


def is_label(name: str) -> pl.Expr:
    return pl.col("label").cast(pl.String) == name


def is_file(name: str) -> pl.Expr:
    return pl.col("file").cast(pl.String) == name


def turned(of: pl.Expr, *names: str) -> Spoil:
    """Each piece has these columns of the next one but two."""

    def spoil(made: Ledger, kept: Kept) -> Parts:
        which = np.flatnonzero(made.pieces.select(of.fill_null(False)).to_series().to_numpy())
        order = np.arange(made.pieces.height)
        order[which] = np.roll(which, 3)
        changed = {name: made.pieces[name].gather(order) for name in names}
        return replace(made, pieces=made.pieces.with_columns(**changed)), kept

    return spoil


def two(of: pl.Expr) -> Spoil:
    """The second and the fourth piece have each other's offset."""

    def spoil(made: Ledger, kept: Kept) -> Parts:
        which = np.flatnonzero(made.pieces.select(of.fill_null(False)).to_series().to_numpy())[[1, 3]]
        order = np.arange(made.pieces.height)
        order[which] = which[::-1]
        assert made.pieces["offset"][which].n_unique() == 2
        return pieces(made, offset=made.pieces["offset"].gather(order)), kept

    return spoil


def called(one: str, other: str) -> Spoil:
    """What has one label has another."""

    def spoil(made: Ledger, kept: Kept) -> Parts:
        label = pl.when(is_label(one)).then(pl.lit(other)).otherwise(pl.col("label").cast(pl.String))
        return pieces(made, label=label.cast(LABEL)), kept

    return spoil


def exchanged(one: str, other: str) -> Spoil:
    """Inode, role and label of two files are each other's."""

    def spoil(made: Ledger, kept: Kept) -> Parts:
        inodes = {role: made.pieces.filter(is_file(role))["inode"].max() or 9999 for role in (one, other)}
        role, label = pl.col("file").cast(pl.String), pl.col("label").cast(pl.String)
        there = {one: other, other: one}
        changed: dict[str, pl.Expr] = {"inode": pl.col("inode"), "file": role, "label": label}
        for own, its in there.items():
            at_home = is_file(own) & (label != "filesystem journal")
            changed["inode"] = pl.when(is_file(own)).then(inodes[its]).otherwise(changed["inode"])
            changed["file"] = pl.when(is_file(own)).then(pl.lit(its)).otherwise(changed["file"])
            changed["label"] = pl.when(at_home).then(pl.lit(ROLES[its])).otherwise(changed["label"])
        changed["file"], changed["label"] = changed["file"].cast(FILE), changed["label"].cast(LABEL)
        return pieces(made, **changed), kept

    return spoil


def next_commit(made: Ledger, kept: Kept) -> Parts:
    return replace(made, ledger=made.ledger.with_columns(pl.col("commit") + 1)), kept


def bytes_turned(label: str) -> Spoil:
    """Commands of one block of a label were given the bytes of the one before it."""

    def spoil(made: Ledger, kept: Kept) -> Parts:
        commands = made.ledger.filter((pl.col("kind").cast(pl.String) == label) & (pl.col("bytes") == 4096))
        which = np.flatnonzero(_rows(kept, commands))
        begin = kept.begin.copy()
        begin[which] = np.roll(begin[which], 1)
        return made, replace(kept, begin=begin)

    return spoil


def _rows(kept: Kept, commands: pl.DataFrame) -> np.ndarray:
    """The commands that were kept at about the time and at the place of these."""
    at = np.searchsorted(commands["issue_ns"].to_numpy(), kept.time - 100_000)
    at = np.minimum(at, commands.height - 1)
    near = np.abs(commands["issue_ns"].to_numpy()[at] - kept.time) < 100_000
    found: np.ndarray = near & (commands["sector"].to_numpy()[at] == kept.sector) & (kept.sectors == 8)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_confirm_a_recorded_run(name: str, built_run: Callable[[str], runs.Run]) -> None:
    run = built_run(f"samples/{name}")
    said = coverage.summary(run.content)
    assert said is not None and run.ledger is not None
    assert said["confirmed_share"] > 0.999 and run.content is not None and run.content.wrong.is_empty()
    total = sum(size for row in said["by_label"].values() for size in row.values())
    assert total == run.ledger.pieces["bytes"].sum()
    assert said["by_rule"] and sum(said["by_rule"].values()) == total * said["confirmed_share"]
    assert run.ledger.pieces["confirmed"].all() and run.ledger.pieces["rule"].null_count() == 0


@pytest.mark.parametrize("name", ["ext4-ordered-delete", "f2fs-wal"])
def test_files_of_an_engine_without_a_module_are_confirmed_by_their_place(
    name: str, built_run: Callable[[str], runs.Run]
) -> None:
    """SQLite/PPL has SQLite's role and label of a database, and no module that reads the bytes."""
    assert not (content.FOLDER / "ppl.py").exists()
    confirmed = judged(built_run(f"samples/{name}"), lambda made, kept: (made, kept), "ppl").confirmed
    of_files = confirmed.filter(pl.col("label").cast(pl.String).is_in(list(ROLES.values())))
    rules = {
        "ext4-ordered-delete": "page that its inode has there",
        "f2fs-wal": "page that its node has there",
    }
    assert set(of_files["rule"]) == {rules[name]} and of_files["label"].n_unique() > 1


SPOILED: list[tuple[str, Spoil, str]] = [
    ("ext4-ordered-delete", next_commit, "number of another commit"),
    ("ext4-ordered-delete", turned(is_label("filesystem journal"), "home"), "tag of another home"),
    ("ext4-journal-truncate", bytes_turned("filesystem journal"), "number of another commit"),
    (
        "ext4-ordered-delete",
        called("filesystem journal", "other"),
        "block of the journal under another label",
    ),
    ("ext4-writeback-wal", called("inode/node", "directory"), "inodes of the place under another label"),
    (
        "ext4-writeback-wal",
        called("bitmap/SIT/NAT/superblock", "inode/node"),
        "descriptors of groups under another label",
    ),
    ("ext4-writeback-wal", called("directory", "inode/node"), "block of a directory under another label"),
    ("ext4-writeback-wal", called("WAL", "database page"), "frame of a WAL under another label"),
    ("ext4-writeback-wal", turned(is_file("wal"), "offset"), "frame of another place of a WAL"),
    ("ext4-writeback-wal", turned(is_file("database"), "offset"), "page that a frame has of another place"),
    ("ext4-ordered-delete", turned(is_file("database"), "offset"), "page that the next record has otherwise"),
    ("ext4-ordered-delete", two(is_file("journal")), "record of another place of a rollback journal"),
    ("f2fs-wal", called("inode/node", "WAL"), "node under another label"),
    ("f2fs-wal", bytes_turned("inode/node"), "node of another place"),
    ("f2fs-wal", exchanged("database", "wal"), "page that a node has as another"),
    ("f2fs-wal", called("checkpoint pack", "inode/node"), "checkpoint with its CRC under another label"),
    ("f2fs-delete", called("rollback journal", "WAL"), "record of a rollback journal under another label"),
]


@pytest.mark.parametrize(
    ("label", "rule"),
    [
        ("inode/node", "node behind one that was not written"),
        ("checkpoint pack", "checkpoint without all blocks of its pack"),
    ],
)
def test_a_write_that_is_nowhere_is_missed(
    label: str, rule: str, built_run: Callable[[str], runs.Run]
) -> None:
    """Neither in the ledger nor in what was kept: what comes after it tells of it."""

    def lost(made: Ledger, kept: Kept) -> Parts:
        of_label = pl.col("kind").cast(pl.String) == label
        gone = made.ledger.filter(of_label).row(2, named=True)
        here = pl.col("command") != gone["command"]
        same = (np.abs(kept.time - gone["issue_ns"]) < 100_000) & (kept.sector == gone["sector"])
        assert same.sum() == 1
        arrays = {field: getattr(kept, field) for field in ("time", "sector", "sectors", "flags", "begin")}
        left = replace(kept, **{field: array[~same] for field, array in arrays.items()})
        again = pl.col("command") - (pl.col("command") > gone["command"]).cast(pl.Int64)
        tables = (table.filter(here).with_columns(again) for table in (made.ledger, made.pieces))
        return replace(made, **dict(zip(("ledger", "pieces"), tables, strict=True))), left

    found = judged(built_run("samples/f2fs-wal"), lost).wrong["rule"].to_list()
    assert rule in found


@pytest.mark.parametrize(("name", "spoil", "rule"), SPOILED)
def test_a_spoiled_ledger_is_contradicted(
    name: str, spoil: Spoil, rule: str, built_run: Callable[[str], runs.Run]
) -> None:
    found = judged(built_run(f"samples/{name}"), spoil)
    assert rule in found.wrong["rule"].to_list()


def test_a_run_whose_bytes_contradict_it_is_rejected(built_run: Callable[[str], runs.Run]) -> None:
    run = built_run("samples/f2fs-wal")
    spoiled = replace(run, content=judged(run, turned(is_file("wal"), "offset")))
    reasons = checks.reasons(spoiled)
    assert len(reasons) == 1 and reasons[0].startswith("content: ")
    assert "bytes contradict the ledger, first WAL at sector" in reasons[0]
