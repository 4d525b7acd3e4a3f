"""Fetch sqllogictest's files, read their statements and queries, and execute one for its rows or error."""

import functools
import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from base.errors import LabError
from base.paths import ROOT
from images import artifacts

LISTED: dict[str, Any] = yaml.safe_load((ROOT / "tests/ssl/sqllogictest.yml").read_text(encoding="utf-8"))
CLONE = ROOT / "workloads/build/test/ssl/sqllogictest.git"
GIT_SECONDS = 120.0
# skipif and onlyif are of the database whose results a file has
RECORD = re.compile(r"^(statement|query)\b", re.MULTILINE)
NOT_OURS = re.compile(r"^(skipif sqlite|onlyif (?!sqlite))", re.MULTILINE)


def git(folder: Path | str, *words: str) -> str:
    """What git prints; LabError with its message."""
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=GIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"git {words[0]}: no end within {GIT_SECONDS:.0f} s") from error
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().splitlines()
        raise LabError((message or [f"git {words[0]} failed"])[-1])
    return done.stdout.decode()


@functools.cache
def repository() -> str:
    """A clone that has the commit; of one that is fetched, the files come when they are asked for."""
    if named := os.environ.get("COMMITPATH_SQLLOGICTEST"):
        return named
    folder = CLONE
    with artifacts.locked(folder):
        if not (folder / "FETCH_HEAD").exists():
            folder.mkdir(parents=True, exist_ok=True)
            git(folder, "init", "-q", "--bare")
            git(folder, "config", "remote.origin.url", LISTED["url"])
            git(folder, "fetch", "-q", "--depth=1", "--filter=blob:none", "origin", LISTED["commit"])
    return str(folder)


def files() -> list[str]:
    """Of a clone all, if it has the commit; else those that are listed."""
    try:
        clone = os.environ["COMMITPATH_SQLLOGICTEST"]
        names = git(clone, "ls-tree", "-r", "--name-only", LISTED["commit"], "test/").split()
    except (KeyError, LabError):
        return list(LISTED["files"])
    return [name.removeprefix("test/").removesuffix(".test") for name in names]


def text_of(file: str) -> str:
    try:
        return git(repository(), "show", f"{LISTED['commit']}:test/{file}.test")
    except LabError as error:
        pytest.skip(f"sqllogictest: {error}; COMMITPATH_SQLLOGICTEST names a clone of it")


def records(text: str) -> Iterator[tuple[str, str]]:
    """The head of a statement or query, and its SQL."""
    for record in re.split(r"\n\s*\n", text.replace("\r", "")):
        found = RECORD.search(record)
        if found is None or NOT_OURS.search(record[: found.start()]):
            continue
        head, _, sql = record[found.start() :].partition("\n")
        yield head, sql.split("\n----")[0]


def result(db: sqlite3.Connection, head: str, sql: str) -> list[tuple[object, ...]] | str:
    """Rows, or what is wrong."""
    try:
        # there may be two in one record
        return (db.execute if head.startswith("query") else db.executescript)(sql).fetchall()
    except sqlite3.Error as error:
        return str(error)
