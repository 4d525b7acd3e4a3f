"""A copy of the tree, to add a part to; and which of its files name a part."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from base.paths import ROOT


def copy_tree(to: Path) -> None:
    """Every file that is one of commitpath's, without its tests and docs."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in files:
        if name and not name.startswith(("tests/", "docs/")) and (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


def python(tree: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Python in a tree of its own; more: its environment."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )


def named_elsewhere(words: Iterable[str], own: str, excepted: Iterable[str], *how: str) -> list[str]:
    """The files that name one of the words and are none of its own; and exceptions that none needs.

    own: a pattern of a part's own files, in which WORDS stands for the words. how: git grep's options.
    """
    either = "|".join(words)
    line = ["git", "grep", "-lwE", *how, either, "--", ".", ":!tests", ":!docs"]
    found = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    others = [path for path in found if not re.search(own.replace("WORDS", either), path)]
    known = tuple(excepted)
    unneeded = [name for name in known if not any(path.startswith(name) for path in others)]
    return [path for path in others if not path.startswith(known)] + unneeded
