"""Copy the tree without its tests and docs, and run Python in the copy: for tests that add a part."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from base.paths import ROOT


def copy_tree(to: Path) -> None:
    """Every file that is one of commitpath's, without its tests and docs."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in files:
        if name and not name.startswith(("tests/", "docs/")) and (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def python(tree: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Python in a tree of its own; more: its environment."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
