"""What `make new` writes runs on a board: an engine and an observer, in a copy of the tree."""

import json
from pathlib import Path

from copied import copy_tree, python

from base.paths import ROOT
from images.artifacts import CACHE


def test_a_new_engine_is_watched_by_a_new_observer(tmp_path: Path) -> None:
    copy_tree(tree := tmp_path / "tree")
    (tree / ".venv").symlink_to(ROOT / ".venv")
    for words in ("KIND=engine NAME=flatdb", "KIND=observer NAME=disks"):
        assert python(tree, "-m", "commitpath", "new", *words.split()).returncode == 0
    words = ["ENGINE=flatdb", "WORKLOAD=kv", "PROBES=all,disks", "ROWS=1000", "N=20"]
    done = python(tree, "-m", "commitpath", "experiment", *words, COMMITPATH_CACHE=str(CACHE))
    assert done.returncode == 0, done.stderr
    folder = tree / "results/latest"
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["flatdb"]["effective"] == {"sync": "full"}
    assert {path.name for path in (folder / "raw/disks").iterdir()} == {"begin", "end"}
