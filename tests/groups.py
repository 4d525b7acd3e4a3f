"""Groups of tests: what budgets.yml says of them, and whether what one depends on has changed."""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
BUDGETS = TESTS / "budgets.yml"
# What every group depends on, beside its own tests.
COMMON = ("pyproject.toml", "requirements.txt", "tests/conftest.py", "tests/commands.py", "tests/groups.py")


class BudgetError(Exception):
    """budgets.yml does not say what it must."""


@dataclass(frozen=True)
class Group:
    """One entry of budgets.yml."""

    name: str
    # folders and files, below tests/; FILE::TEXT: those of their tests whose names have TEXT
    tests: tuple[str, ...]
    # of all its tests together
    seconds: float
    # its tests are handed out one by one, else a file at a time
    each: bool = False
    # run by `make test-long`, in place of `make test`
    long: bool = False
    # what else it depends on, as `git ls-files` names it; a group that says so can be skipped
    inputs: tuple[str, ...] = ()

    def nearest(self, nodeid: str) -> tuple[int, int]:
        """How long the path is by which it names a test, and the text of the name; (0, 0): it does not."""
        file, _, name = nodeid.removeprefix("tests/").partition("::")
        mine = [test.partition("::") for test in self.tests]
        near = [(len(path), len(text)) for path, _, text in mine if covers(path, file) and text in name]
        return max(near, default=(0, 0))

    def may_have(self, file: str) -> bool:
        """Whether it names a test of a file by its name."""
        mine = [test.partition("::") for test in self.tests]
        return any(text and covers(path, file) for path, _, text in mine)

    def unit(self, nodeid: str) -> str:
        """What is handed out together with a test."""
        return nodeid if self.each else nodeid.partition("::")[0]

    def key(self) -> str:
        """A hash of all that it depends on, as it is now."""
        digest = hashlib.sha256(machine())
        tests = [f"tests/{test.partition('::')[0]}" for test in self.tests]
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
        listed = subprocess.run(
            [*command, *self.inputs, *tests, *COMMON], cwd=ROOT, capture_output=True, check=True
        ).stdout
        for name in sorted({name for name in listed.decode().split("\0") if name}):
            path = ROOT / name
            # one that is deleted is still in the index
            content = path.read_bytes() if path.is_file() else b"none"
            digest.update(f"{name}\0{os.access(path, os.X_OK)}\0{len(content)}\0".encode() + content)
        return f"{self.name.replace(' ', '-')}-{digest.hexdigest()[:12]}"


def machine() -> bytes:
    """What tests depend on that is in no file here: Debian's packages, Python, root's rights."""
    packages = subprocess.run(["dpkg-query", "-W"], capture_output=True, check=True).stdout
    here = [sys.version, platform.machine(), platform.release(), str(os.geteuid() == 0)]
    return packages + "\0".join(here).encode()


def read(path: Path = BUDGETS) -> list[Group]:
    """The groups, in the order in which they are begun; BudgetError unless each test is in one of them."""
    groups = []
    for name, entry in (yaml.safe_load(path.read_text()) or {}).items():
        if not isinstance(entry.get("seconds"), int | float):
            raise BudgetError(f"{path}: {name}: seconds is missing: the budget of the group's tests")
        unknown = entry.keys() - {field.name for field in fields(Group)}
        if unknown:
            raise BudgetError(f"{path}: {name}: {' '.join(sorted(unknown))} is not a word of a group's")
        lists = {word: tuple(flat(entry.pop(word, ()))) for word in ("tests", "inputs")}
        groups.append(Group(name, **lists, **entry))
    modules: dict[str, str] = {}
    for file in files():
        # pytest imports each by its name alone, and does not run the second of two
        if (first := modules.setdefault(Path(file).name, file)) != file:
            raise BudgetError(f"tests/{file}: tests/{first} has its name; pytest takes each name once")
    found = {file: of(f"tests/{file}", groups) for file in files()}
    for file, group in found.items():
        if group is None:
            raise BudgetError(f"{path}: tests/{file} is in no group; a group has a budget")
    for group in groups:
        if group not in found.values() and not any(group.may_have(file) for file in found):
            raise BudgetError(f"{path}: {group.name}: no test is in {' '.join(group.tests) or 'it'}")
    return groups


def flat(words: list[Any]) -> Iterator[str]:
    """What a list has and what the lists in it have: YAML's aliases do not join two."""
    for word in words:
        yield from flat(word) if isinstance(word, list) else [word]


def covers(path: str, file: str) -> bool:
    """Whether a path is a file's own, or that of a folder that it is in."""
    return f"{file}/".startswith(f"{path}/")


def files() -> Iterator[str]:
    """Every file with tests, below tests/."""
    return (str(path.relative_to(TESTS)) for path in sorted(TESTS.rglob("test_*.py")))


def of(nodeid: str, groups: list[Group]) -> Group | None:
    """The group of a test: the one that names it by the longest path, and the longest text of its name."""
    nearest = max(groups, key=lambda group: group.nearest(nodeid))
    return nearest if nearest.nearest(nodeid)[0] else None
