"""`make new`: a part of each kind is written in a copy of the tree; it is known, built and run there."""

import json
import os
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
# CONTRIBUTING.md says them, too
FILES = {"engine": 4, "workload": 2, "filesystem": 5, "device": 1, "observer": 3, "figure": 1}
# ASan and UBSan, as workloads/Makefile has them for tests
SANITIZED = "CFLAGS=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
PLANS: list[tuple[list[str], str, object]] = [
    (["ENGINE=flatdb", "WORKLOAD=kv"], "cell.engine", "flatdb"),
    (["WORKLOAD=twice"], "cell.profiles.workload.driver_workload", "twice"),
    (["FS=jfs"], "cell.profiles.fs.type", "jfs"),
    (["DEVICE=my-ssd.2"], "cell.profiles.device.driver", "flashsim"),
    (["PROBES=all,disks"], "runs.run.observers", ["blktrace", "content", "disks", "probes"]),
]
# What a driver with the engine wrote, read by the engine's model: what was rendered is what was timed, and
# what the host makes again is the same bytes.
READ_BACK = """
import csv, io, json, sys
from analysis.checks import rendered as as_timed
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
table = workloads.Table(50, engine.ADDS_MISSING)
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
LAYOUT = """
from pathlib import Path
from analysis.adapters import layouts
from commitpath.boards.payload import all_probes, expected_probes
from model import filesystems
assert layouts.layout("jfs", Path(), {"block_size": "4096"}).starts.tolist() == [0]
assert filesystems.by_name("jfs").fsck == "fsck.jfs -n"
assert "jfs" in all_probes() and expected_probes(["jfs"]) == 3
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with a new part of each kind; what the command prints is checked."""
    copy = tmp_path_factory.mktemp("tree")
    copy_tree(copy)
    before = files_in(copy)
    for kind, name in NAMES.items():
        done = python(copy, "-m", "commitpath", "new", f"KIND={kind}", f"NAME={name}")
        assert (done.returncode, done.stderr) == (0, ""), kind
        *paths, following = done.stdout.splitlines()
        assert len(paths) == FILES[kind] and set(paths) == files_in(copy) - before, kind
        assert following == f"next: {new_part.KINDS[kind].following.format(name)}"
        before = files_in(copy)
        for path in paths:
            text = (copy / path).read_text()
            assert "{{NAME}}" not in text and "{{UPPER}}" not in text and name in text, path
            assert "equired" in text, f"{path} says of nothing that it is required"
    return copy


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


@pytest.mark.parametrize(("words", "key", "value"), PLANS)
def test_a_plan_knows_each_part(tree: Path, words: list[str], key: str, value: object) -> None:
    done = python(tree, "-m", "commitpath", "plan", *words, "ROWS=1000", "N=20")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    for part in key.split("."):
        made = made[part]
    assert made == value


def test_help_lists_each_part(tree: Path) -> None:
    text = python(tree, "-m", "commitpath", "help").stdout.split()
    for kind, name in NAMES.items():
        assert kind == "figure" or name in {word.rstrip(",") for word in text}, kind


@pytest.mark.parametrize("workload", ["kv", "apsys17", "null", "twice"])
def test_a_new_engine_and_a_new_workload_run(tree: Path, driver: Path, workload: str, tmp_path: Path) -> None:
    """Ten transactions of each phase; the workloads that the host makes again are read back."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = [driver, *words, "--database", "sample.db", "--rows", "50"]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("populate")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("run", "--workload", workload, "--n", "10", "--sync", "full", "--output-dir", "out")
    assert (done.returncode, done.stderr) == (0, "")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["status"] == "ok" and config["requested"] == config["effective"] == {"sync": "full"}
    assert workload not in ("null", "twice") or config["rows_after"] == {"null": 50, "twice": 60}[workload]
    if workload in ("kv", "apsys17"):
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


def test_a_new_filesystem_is_read(tree: Path) -> None:
    """What needs no board: its model, its layout, how many of its probe's programs must attach."""
    done = python(tree, "-c", LAYOUT)
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
        ([], "KIND: missing; make new takes KIND=engine|workload|filesystem|device|observer|figure, NAME="),
        (["KIND=engine"], "NAME: missing; "),
        (["KIND=engine", "NAME="], "NAME: missing; "),
        (
            ["KIND=kernel", "NAME=x"],
            "KIND=kernel: KIND is engine, workload, filesystem, device, observer, fig",
        ),
        (["KIND=engine", "NAME=My-DB"], "NAME=My-DB: it may have lower-case letters, digits and _"),
        (["KIND=workload", "NAME=../x"], "NAME=../x: it may have lower-case letters"),
        (["KIND=device", "NAME=a/b"], "NAME=a/b: it may have lower-case letters and digits"),
        (["KIND=figure", "NAME=.."], "NAME=..: it may have "),
        (["KIND=figure", f"NAME={65 * 'x'}"], "at most 64 characters"),
        (["KIND=engine", "NAME=sqlite"], "NAME=sqlite: it is a value of ENGINE already; name another"),
        (["KIND=engine", "NAME=survival"], "NAME=survival: model/engines/survival.py exists already"),
        (["KIND=engine", "NAME=effective"], "NAME=effective: it is a member of a run's documents already"),
        (["KIND=workload", "NAME=kv"], "NAME=kv: it is a value of WORKLOAD already"),
        (["KIND=workload", "NAME=sample"], "NAME=sample: workloads/workloads/sample.c exists already"),
        (["KIND=filesystem", "NAME=ext4"], "NAME=ext4: analysis/adapters/layouts/ext4.py exists already"),
        (["KIND=filesystem", "NAME=bio"], "NAME=bio: probes/bio.bpf.c exists already"),
        (["KIND=filesystem", "NAME=probes"], "NAME=probes: it is an observer already"),
        (["KIND=observer", "NAME=flush"], "NAME=flush: it is a probe already"),
        (["KIND=observer", "NAME=all"], "NAME=all: it is a word of commitpath's already"),
        (["KIND=device", "NAME=emmc-5.0"], "NAME=emmc-5.0: it is a value of DEVICE already"),
        (["KIND=figure", "NAME=quick"], "NAME=quick: experiments/figures/quick.yml exists already"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(words: list[str], says: str) -> None:
    line = ["git", "status", "--porcelain", "--ignored=no"]
    before = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    done = commands.call("new", *words)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout == before


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
