"""`make new` writes a part of each kind in a copy of the tree, where it is known, built and run.

Parts that have no skeleton (a device driver, a kernel, an axis) are copies of others. CONTRIBUTING.md names
the files of each kind.
"""

import fnmatch
import functools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import commands
import pytest
from copied import copy_tree, python

from base.errors import BadInputError
from base.paths import ROOT
from commitpath.command_line import variables
from commitpath.commands import new_part

NAMES = {
    "engine": "flatdb",
    "workload": "twice",
    "filesystem": "jfs",
    "device": "my-ssd.2",
    "observer": "disks",
    "figure": "bars-1",
}
SECTIONS = {
    "engine": "a storage engine",
    "workload": "a workload",
    "filesystem": "a filesystem",
    "device": "a device profile",
    "observer": "an observer",
    "figure": "a figure of a sweep",
}
# CONTRIBUTING.md says them, too
FILES = {"engine": 4, "workload": 2, "filesystem": 5, "device": 1, "observer": 3, "figure": 1}
# ASan and UBSan, as workloads/Makefile has them for tests
SANITIZED = "CFLAGS=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
MAKE = """
import json, sys
from commitpath.commands import dispatch
for kind, name in json.loads(sys.argv[1]).items():
    assert dispatch.run(["new", f"KIND={kind}", f"NAME={name}"]) == 0
    print()
"""
# Kind of CONTRIBUTING.md: the files of a copy, and what is replaced in them.
COPIES: dict[str, tuple[dict[str, str], str, str]] = {
    "a device driver": (
        {"playbooks/devices/{}.sh": "null_blk", "model/devices/{}.py": "null_blk"},
        "null_blk",
        "toydrv",
    ),
    "a device profile": ({"experiments/device/{}.yml": "constant"}, "null_blk", "toydrv"),
    "a kernel": ({"experiments/kernel/{}.yml": "6.12"}, "release: .*", "release: '6.99'"),
}
AXIS = """
  # for a test
  moon:
    description: phase of the moon
    x-of: board
    enum: [new, full]
    default: new
"""
PLANS: list[tuple[dict[str, str], str, object]] = [
    ({"ENGINE": "flatdb", "WORKLOAD": "kv"}, "cell.engine", "flatdb"),
    ({"WORKLOAD": "twice"}, "cell.profiles.workload.driver_workload", "twice"),
    ({"FS": "jfs"}, "cell.profiles.fs.type", "jfs"),
    ({"DEVICE": "my-ssd.2"}, "cell.profiles.device.driver", "flashsim"),
    ({"DEVICE": "toydrv"}, "cell.profiles.device.driver", "toydrv"),
    ({"KERNEL": "6.99"}, "cell.profiles.kernel.release", "6.99"),
    ({"PROBES": "all,disks"}, "runs.run.observers", ["blktrace", "content", "disks", "probes"]),
    ({"MOON": "full"}, "cell.moon", "full"),
]
# What a driver with the engine wrote, read by the engine's model: what was rendered is what was timed, and
# what the host makes again is the same bytes.
READ_BACK = """
import csv, io, json, sys
from analysis.checks import workload_replay as as_timed
from model import engines, workloads
from model.workloads import Options

engine, (name, folder) = engines.by_name("flatdb"), sys.argv[1:]
content = open(f"{folder}/rendered", "rb").read()
given = list(engine.transactions(io.BytesIO(content)))
ops = [row["op"] for row in csv.DictReader(open(f"{folder}/transactions.csv"))]
assert len(given) == len(ops) and all(map(as_timed.is_one_of, ops, given)), ops
workload = workloads.by_name(name)
made = list(workloads.transactions(workload, Options(50, 10, 3072, 1), list(workload.PHASES)))
assert b"".join(engine.rendered(one, workload.TEXTS) for one in made) == content
table = workloads.Table(range(1, 51), engine.ADDS_MISSING)
for one in made:
    table.apply(one)
assert json.load(open(f"{folder}/config.json"))["rows_after"] == table.rows
assert engine.survives({"sync": "full"}) and engine.role("sample.db", ["sample.db"]) == "database"
"""
OBSERVED = """
import sys
from pathlib import Path
from analysis import observers
seen = observers.load("disks").read(observers.Given(Path(sys.argv[1]), (0, 1)))
assert not seen.missing and not seen.losses and seen.numbers["disks"] > 0, seen
(Path(sys.argv[1]) / "disks/end").unlink()
assert observers.load("disks").read(observers.Given(Path(sys.argv[1]), (0, 1))).missing == ["raw/disks/end"]
"""
# What commands, checks and models know of the parts: help, and the plan of each of PLANS.
KNOWN = """
import json, sys
from pathlib import Path
from analysis.adapters import layouts
from analysis.report import manifest
from analysis.schemas import documents
from base import strict_json
from commitpath.boards.payload import all_probes, expected_probes
from commitpath.cells.from_variables import make_cell
from commitpath.command_line import help
from commitpath.host import ansible
from commitpath.run import plan
from model import devices, filesystems
assert layouts.layout("jfs", Path(), {"block_size": "4096"}).starts.tolist() == [0]
assert filesystems.by_name("jfs").fsck == "fsck.jfs -n" and devices.by_name("toydrv")
assert "jfs" in all_probes() and expected_probes(["jfs"]) == 3
assert "twice" in manifest.workloads()
# what a manifest lacks that says nothing but its engine: of a known engine all else
def unfit(engine):
    try:
        documents.check("manifest", {"engine": engine, engine: {"effective": {}}})
    except strict_json.UnfitError as error:
        return str(error)
assert "must contain ['board'," in unfit("flatdb")
assert "exactly by one definition (0" in unfit("nodb")
board = ansible.board("virtual")
plans = [plan.make(make_cell(given), board).document for given in json.loads(sys.argv[1])]
print(json.dumps([help.text(), plans]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with a new part of each kind; what the command prints is checked."""
    copy = tmp_path_factory.mktemp("tree")
    copy_tree(copy)
    before = files_in(copy)
    done = python(copy, "-c", MAKE, json.dumps(NAMES))
    assert (done.returncode, done.stderr) == (0, "")
    made = [part.splitlines() for part in done.stdout.rstrip("\n").split("\n\n")]
    for (kind, name), (*paths, following) in zip(NAMES.items(), made, strict=True):
        assert len(paths) == FILES[kind], kind
        assert following == f"next: {new_part.KINDS[kind].following.format(name)}"
        for path in paths:
            text = (copy / path).read_text()
            assert "{{NAME}}" not in text and "{{UPPER}}" not in text and name in text, path
            assert "equired" in text, f"{path} says of nothing that it is required"
            assert named_for(SECTIONS[kind], path), path
    assert {path for *paths, _ in made for path in paths} == files_in(copy) - before
    for section, (files, pattern, other) in COPIES.items():
        for place, name in files.items():
            path = place.format("6.99" if section == "a kernel" else "toydrv")
            (copy / path).write_text(re.sub(pattern, other, (copy / place.format(name)).read_text()))
            assert named_for(section, path), path
    schema = copy / "experiments/schema.yml"
    schema.write_text(schema.read_text().replace("\nproperties:\n", f"\nproperties:\n{AXIS}", 1))
    return copy


def named_for(section: str, path: str) -> bool:
    """Whether CONTRIBUTING names the path for a kind, in its list or in a checklist."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    listed = re.search(
        rf"^- \*\*{section}\*\*: (.*)$|^### {section.capitalize()}\n((?:[^#].*\n|\n)*)", page, re.MULTILINE
    )
    assert listed, section
    paths = re.findall(r"`([a-z]+/[^`]*)`", listed[1] or listed[2])
    patterns = [re.sub("<[a-z]+>|NAME", "*", path) for path in paths]
    return any(fnmatch.fnmatch(path, f"{one}*" if one.endswith("/") else one) for one in patterns)


def files_in(tree: Path) -> set[str]:
    """Every file of a tree, but what Python compiled."""
    found = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    return {path for path in found if "__pycache__" not in path}


@pytest.fixture(scope="module")
def driver(tree: Path) -> Path:
    """The driver with the new engine, on this host."""
    line = ["make", "-s", "-C", "workloads", "driver", "ENGINE=flatdb", "OUT=build/driver", SANITIZED]
    done = subprocess.run(line, cwd=tree, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return tree / "workloads/build/driver"


def test_help_plans_checks_and_models_know_each_part(tree: Path) -> None:
    done = python(tree, "-c", KNOWN, json.dumps([given for given, *_ in PLANS]))
    assert done.returncode == 0, done.stderr
    text, plans = json.loads(done.stdout)
    words = {word.rstrip(",") for word in text.split()}
    assert {*NAMES.values(), "toydrv", "6.99", "MOON"} - {NAMES["figure"]} <= words
    for (_, key, value), planned in zip(PLANS, plans, strict=True):
        assert functools.reduce(lambda part, name: part[name], key.split("."), planned) == value
    # a setting of each part is expected
    assert {"group": "engine", "name": "name", "requested": "flatdb"} in plans[0]["expected"]
    assert {"group": "filesystem", "name": "type", "requested": "jfs"} in plans[2]["expected"]


@pytest.mark.parametrize("workload", ["kv", "twice"])
def test_a_new_engine_and_a_new_workload_run(tree: Path, driver: Path, workload: str, tmp_path: Path) -> None:
    """Ten transactions of each phase; those that the host makes again are read back."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = [driver, *words, "--database", "sample.db", "--rows", "50"]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("populate")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("run", "--workload", workload, "--n", "10", "--sync", "full", "--output-dir", "out")
    assert (done.returncode, done.stderr) == (0, "")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["status"] == "ok" and config["requested"] == config["effective"] == {"sync": "full"}
    if workload == "twice":
        assert config["rows_after"] == 60
    else:
        done = python(tree, "-c", READ_BACK, workload, str(tmp_path / "out"))
        assert done.returncode == 0, done.stderr


def test_a_new_engine_refuses_what_it_cannot_do(driver: Path, tmp_path: Path) -> None:
    for words, said in [
        (["run", "--output-dir", "out"], "opening sample.db: No such file or directory"),
        (["populate", "--value-size", "8"], ""),
        (["run", "--output-dir", "out"], "a row has a value of 8 bytes, --value-size is 3072"),
    ]:
        setting = ["--sync", "off"] if words[0] == "run" else []
        line = [driver, *words, *setting, "--database", "sample.db", "--rows", "5"]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == bool(said) and said in done.stderr


def test_a_new_observer_watches(tree: Path, tmp_path: Path) -> None:
    """Its functions, called as a board calls them, and what is read of its files."""
    for name in ("observer.sh", "needs.sh"):
        shutil.copy(tree / "playbooks/board" / name, tmp_path)
    shutil.copytree(tree / "playbooks/observers", tmp_path / "observers")
    (tmp_path / "cell.env").write_text("DEVICE_NAME=target\n")
    (tmp_path / "raw").mkdir()
    for step in ("check", "start", "ready", "stop", "said"):
        subprocess.run(["sh", "observer.sh", "disks", step], cwd=tmp_path, check=True, capture_output=True)
    done = python(tree, "-c", OBSERVED, str(tmp_path / "raw"))
    assert done.returncode == 0, done.stderr


def test_new_shell_scripts_are_clean(tree: Path) -> None:
    scripts = ["playbooks/filesystems/jfs.sh", "playbooks/observers/disks.sh"]
    subprocess.run([ROOT / ".venv/bin/shellcheck", *scripts], cwd=tree, check=True)


def test_the_kinds_are_the_commands() -> None:
    entry = variables.without_axes("new")["KIND"]
    assert entry and set(entry["values"]) == set(new_part.KINDS) == {
        path.name for path in new_part.SKELETONS.iterdir()
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            [],
            "KIND and NAME: missing; make new takes KIND=engine|workload|filesystem|device|observer|figure, ",
        ),
        (["KIND=engine", "NAME="], "NAME: missing; "),
        (
            ["KIND=kernel", "NAME=x"],
            "KIND=kernel: KIND is engine, workload, filesystem, device, observer, fig",
        ),
        (["KIND=workload", "NAME=../x"], "NAME=../x: it may have lower-case letters"),
        (["KIND=figure", f"NAME={65 * 'x'}"], "at most 64 characters"),
        (["KIND=engine", "NAME=sqlite"], "NAME=sqlite: it is a value of ENGINE already; name another"),
        (["KIND=engine", "NAME=effective"], "NAME=effective: it is a member of a run's documents already"),
        (["KIND=filesystem", "NAME=bio"], "NAME=bio: probes/bio.bpf.c exists already"),
        (["KIND=filesystem", "NAME=probes"], "NAME=probes: it is an observer already"),
        (["KIND=observer", "NAME=flush"], "NAME=flush: it is a probe already"),
        (["KIND=observer", "NAME=all"], "NAME=all: it is a word of commitpath's already"),
    ],
)
def test_bad_input_is_one_line(words: list[str], says: str) -> None:
    done = commands.call("new", *words)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_what_cannot_be_written_whole_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at the second file: the first and its new folder are removed."""
    monkeypatch.setattr(new_part, "ROOT", tmp_path)
    replace = Path.replace

    def full(self: Path, target: str | os.PathLike[str]) -> Path:
        if Path(target).name == "second":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        new_part.write({Path("a/b/first"): "1", Path("c/second"): "2"})
    assert list(tmp_path.iterdir()) == []
    new_part.write({Path("a/b/first"): "1"})
    with pytest.raises(BadInputError, match="a/b/first exists already"):
        new_part.write({Path("a/b/first"): "2"})
    assert (tmp_path / "a/b/first").read_text() == "1"


def test_a_word_of_python_is_not_the_name_of_a_module() -> None:
    for kind in ("engine", "workload", "filesystem", "observer"):
        with pytest.raises(BadInputError, match=r"^NAME=class: it is a word of Python's already"):
            new_part.check_name(kind, "class")
    new_part.check_name("device", "class")
