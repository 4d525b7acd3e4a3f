"""CONTRIBUTING's touch budget is true: a part of each kind is its own files, and everything knows it.

In a copy of the tree one part of each kind is made, as a copy of one that is there under another
name: no file that is there is changed, but the schema for an axis.
"""

import fnmatch
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from copied import copy_tree

from base.paths import ROOT

LIKE = {"f2fs": "toyfs", "leveldb": "toydb", "null_blk": "toydrv", "blktrace": "toyeye", "kv": "toykv"}
LEVELDB_SOURCES = sorted(path.name for path in (ROOT / "workloads/engines/leveldb").glob("*.[ch]"))
# kind in CONTRIBUTING's table → (file that is there, its copy)
PARTS: dict[str, list[tuple[str, str]]] = {
    "a filesystem": [
        ("experiments/fs/f2fs.yml", "experiments/fs/toyfs.yml"),
        ("playbooks/filesystems/f2fs.sh", "playbooks/filesystems/toyfs.sh"),
        ("probes/f2fs.bpf.c", "probes/toyfs.bpf.c"),
        ("model/filesystems/f2fs.py", "model/filesystems/toyfs.py"),
        ("analysis/adapters/layouts/f2fs.py", "analysis/adapters/layouts/toyfs.py"),
    ],
    "a storage engine": [
        *(
            (f"workloads/engines/leveldb/{name}", f"workloads/engines/toydb/{name}")
            for name in ("engine.mk", *LEVELDB_SOURCES)
        ),
        ("experiments/engine/leveldb.yml", "experiments/engine/toydb.yml"),
        ("model/engines/leveldb.py", "model/engines/toydb.py"),
    ],
    "a device profile": [("experiments/device/emmc-5.0.yml", "experiments/device/toy-flash.yml")],
    "a device driver": [
        ("playbooks/devices/null_blk.sh", "playbooks/devices/toydrv.sh"),
        ("model/devices/null_blk.py", "model/devices/toydrv.py"),
    ],
    "a kernel": [("experiments/kernel/6.12.yml", "experiments/kernel/6.99.yml")],
    "an observer": [
        ("experiments/observer/blktrace.yml", "experiments/observer/toyeye.yml"),
        ("playbooks/observers/blktrace.sh", "playbooks/observers/toyeye.sh"),
        ("analysis/observers/blktrace.py", "analysis/observers/toyeye.py"),
    ],
    "a workload": [
        ("workloads/workloads/kv.c", "workloads/workloads/toykv.c"),
        ("experiments/workload/kv.yml", "experiments/workload/toykv.yml"),
    ],
}
AXIS = """
  # for a test
  moon:
    description: phase of the moon
    x-of: board
    enum: [new, full]
    default: new
"""
# What a manifest lacks that says nothing but its engine: of a known engine all else.
MANIFESTS = """
from analysis.schemas import documents
from base import strict_json
def unfit(engine):
    try:
        documents.check("manifest", {"engine": engine, engine: {"effective": {}}})
    except strict_json.UnfitError as error:
        return str(error)
assert "must contain ['board'," in unfit("toydb")
assert "exactly by one definition (0" in unfit("nodb")
"""
# cell's variables → what the plan must say then
PLANS: list[tuple[dict[str, str], str, object]] = [
    ({"FS": "toyfs"}, "cell.profiles.fs.type", "toyfs"),
    ({"ENGINE": "toydb"}, "cell.engine", "toydb"),
    ({"DEVICE": "toy-flash"}, "cell.profiles.device.driver", "flashsim"),
    ({"DEVICE": "toy-drive"}, "cell.profiles.device.driver", "toydrv"),
    ({"KERNEL": "6.99"}, "cell.profiles.kernel.release", "6.99"),
    ({"PROBES": "all,toyeye", "DEVICE": "emmc-5.0"}, "runs.run.observers", ["content", "probes", "toyeye"]),
    ({"WORKLOAD": "toykv"}, "cell.profiles.workload.driver_workload", "toykv"),
    ({"MOON": "full"}, "cell.moon", "full"),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with a part of each kind more."""
    copy = tmp_path_factory.mktemp("tree")
    copy_tree(copy)
    for parts in PARTS.values():
        for source, place in parts:
            text = (ROOT / source).read_text()
            for word, other in LIKE.items():
                text = re.sub(rf"(?<![a-z0-9]){word}(?![a-z0-9])", other, text)
            if place.startswith("experiments/kernel/"):
                text = re.sub("release: .*", "release: '6.99'", text)
            (copy / place).parent.mkdir(parents=True, exist_ok=True)
            (copy / place).write_text(text)
    # a profile of the new driver
    profile = (ROOT / "experiments/device/constant.yml").read_text().replace("null_blk", "toydrv")
    (copy / "experiments/device/toy-drive.yml").write_text(profile)
    schema = copy / "experiments/schema.yml"
    schema.write_text(schema.read_text().replace("\nproperties:\n", f"\nproperties:\n{AXIS}", 1))
    return copy


def commitpath(tree: Path, command: str, **variables: str) -> str:
    """What a command says in the copy."""
    environment = {**os.environ, "PYTHONPATH": ""}
    line = [sys.executable, "-m", "commitpath", command, *(f"{k}={v}" for k, v in variables.items())]
    done = subprocess.run(line, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def row(kind: str) -> list[str]:
    """The paths that CONTRIBUTING has for a kind, in a row of its table or in a checklist, as patterns."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    listed = re.search(
        rf"^\| {kind} \| (.*) \|$|^### {kind.capitalize()}\n((?:[^#].*\n|\n)*)", page, re.MULTILINE
    )
    assert listed, kind
    paths = re.findall(r"`([a-z]+/[^`]*)`", listed[1] or listed[2])
    patterns = [re.sub("<[a-z]+>|NAME", "*", path) for path in paths]
    return [f"{pattern}*" if pattern.endswith("/") else pattern for pattern in patterns]


@pytest.mark.parametrize("kind", PARTS)
def test_what_is_made_is_what_the_table_says(kind: str) -> None:
    for _, place in PARTS[kind]:
        assert any(fnmatch.fnmatch(place, pattern) for pattern in row(kind)), place


def test_the_paths_of_the_page_are_there() -> None:
    """Each path that CONTRIBUTING names, in a row, a checklist or a link, matches a file or folder."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    paths = re.findall(r"[`(]((?:[A-Za-z_-]+/)+[^`\s)…]*|Makefile)[`)]", page)
    assert len(paths) > 80
    patterns = {re.sub("<[a-z]+>|NAME", "*", path.partition("#")[0]) for path in paths}
    assert sorted(pattern for pattern in patterns if not any(ROOT.glob(pattern))) == []


def test_help_knows_every_part(tree: Path) -> None:
    text = " ".join(commitpath(tree, "help").split())
    for name in ("toyfs", "toydb", "toy-flash", "toy-drive", "6.99", "toyeye", "toykv", "MOON"):
        assert name in text, name


@pytest.mark.parametrize(("variables", "key", "value"), PLANS)
def test_a_dry_plan_knows_every_part(tree: Path, variables: dict[str, str], key: str, value: object) -> None:
    made = json.loads(commitpath(tree, "plan", **variables))
    for part in key.split("."):
        made = made[part]
    assert made == value


def test_the_checks_know_every_part(tree: Path) -> None:
    """A setting of each part is expected; a wrong one is refused with the part's own words."""
    expected = json.loads(commitpath(tree, "plan", FS="toyfs", ENGINE="toydb"))["expected"]
    assert {"group": "filesystem", "name": "type", "requested": "toyfs"} in expected
    assert {"group": "engine", "name": "name", "requested": "toydb"} in expected
    line = [sys.executable, "-c", "from analysis import observers as o\n"]
    line[-1] += "from model import devices, engines, filesystems\n"
    line[-1] += (
        "devices.by_name('toydrv'), engines.by_name('toydb'), filesystems.by_name('toyfs'), o.load('toyeye')"
    )
    line[-1] += MANIFESTS
    subprocess.run(line, cwd=tree, env={**os.environ, "PYTHONPATH": ""}, check=True)


def test_the_driver_is_built_of_every_part(tree: Path) -> None:
    line = ["make", "-n", "-C", "workloads", "driver", "ENGINE=toydb", "OUT=build/driver"]
    done = subprocess.run(line, cwd=tree, capture_output=True, text=True, check=True)
    for source in ("engines/toydb/engine.c", "workloads/toykv.c"):
        assert source in done.stdout
