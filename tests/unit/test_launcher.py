"""bin/commitpath and the Makefile, which calls it: how a command and its values arrive."""

import json
import os
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from base.version import version
from commitpath.command_line import help, variables
from commitpath.commands import table

ROOT = Path(__file__).resolve().parents[2]
# In the place of a Python that has everything loaded: prints what it would run, and where.
PYTHON = f"""#!/bin/sh
[ "$2" != -c ] || exec {sys.executable} "$@"
exec {sys.executable} -c '
import json, os, sys
sys.path.insert(0, "{ROOT}")
from commitpath.command_line import arguments
# -E: without the settings that the user has for another Python
assert sys.argv[1:5] == ["-E", "-m", "commitpath", "--folder"], sys.argv
target, given = arguments.read(sys.argv[6:])
there = {{name: text for name, text in os.environ.items() if name in given or name.startswith("MAKE")}}
print(json.dumps([sys.argv[5], target, given, there]))
sys.exit(int(os.environ.get("CODE", "0")))
' "$@"
"""
# What the environment is made of.
INPUTS = "requirements.txt requirements-build.txt playbooks/bootstrap.sh"
SHELL = (
    'for i in 1 2; do sqlite3 x$i.db "SELECT \'$((i+1))\', `id -u`, \\"#\\""; done # $$ $(shell touch made)'
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the launcher and what it reads, and an environment that is ready."""
    folder = tmp_path_factory.mktemp("a checkout")
    (folder / "bin").mkdir()
    (folder / "commitpath/command_line").mkdir(parents=True)
    for name in ("CITATION.cff", "Makefile", "bin/commitpath", "commitpath/command_line/help.txt"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("base", "requirements.txt", "requirements-build.txt", "playbooks"):
        (folder / name).symlink_to(ROOT / name)
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    (folder / ".venv/lib/python").mkdir(parents=True)
    subprocess.run(f"sha256sum {INPUTS} > .venv/ready", shell=True, cwd=folder, check=True)
    return folder


def run(*line: object, cwd: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        [str(word) for word in line],
        cwd=cwd,
        env={**clean, "N": "of the user's environment", **more},
        capture_output=True,
        text=True,
        check=False,
    )


def test_values_arrive_as_they_are_given(tree: Path, tmp_path: Path) -> None:
    """From any folder, whose paths they may have, and through a link to the launcher."""
    link = tmp_path / "cp"
    link.symlink_to(tree / "bin/commitpath")
    given = {"CMD": SHELL, "FILE": "a b\n\tc", "WHERE": "fs=f2fs N=3", "X": "", "a-b": "\\"}
    done = run(link, "watch", *(f"{k}={v}" for k, v in given.items()), cwd=tmp_path)
    assert json.loads(done.stdout) == [str(tmp_path), "watch", given, {}], done.stderr


def test_what_follows_two_dashes_is_the_command(tree: Path) -> None:
    words = ["python3", "-c", "print('$HOME', \"--\")", "A=b", "--", ""]
    done = run("bin/commitpath", "watch", "FS=f2fs", "--", *words, cwd=tree)
    _, _, given, _ = json.loads(done.stdout)
    assert given["FS"] == "f2fs"
    line = ["sh", "-c", f"printf '%s\\0' {given['CMD']}"]
    back = subprocess.run(line, capture_output=True, text=True, check=True)
    assert back.stdout.split("\0")[:-1] == words


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_the_commands(tree: Path, code: int) -> None:
    assert run("bin/commitpath", "results", cwd=tree, CODE=str(code)).returncode == code
    assert run("make", "results", cwd=tree, CODE=str(code)).returncode == (2 if code else 0)


@pytest.mark.parametrize(
    ("made", "word", "code"),
    [(1, "N=2", 1), (1, "EXPECT=syncs<=1", 125), (100, "EXPECT=syncs<=1", 125), (2, "EXPECT=syncs<=1", 128),
     (130, "EXPECT=syncs<=1", 130), (2, "N=2", 2)],
)  # fmt: skip
def test_without_an_environment_there_is_no_run_to_judge(
    tree: Path, tmp_path: Path, made: int, word: str, code: int
) -> None:
    """`git bisect run` takes 125 for a commit that cannot be tested, and ends with 128 and more."""
    bare = tmp_path / "bare"
    shutil.copytree(tree, bare, symlinks=True, ignore=shutil.ignore_patterns(".venv", "playbooks"))
    (bare / "playbooks").mkdir()
    (bare / "playbooks/bootstrap.sh").write_text(f"#!/bin/sh\nexit {made}\n")
    (bare / "playbooks/bootstrap.sh").chmod(0o755)
    assert run("bin/commitpath", "experiment", word, cwd=bare).returncode == code
    # the command's own word
    assert run("bin/commitpath", "watch", "--", "EXPECT=", cwd=bare).returncode == made


@pytest.mark.parametrize("word", ["N=2", "EXPECT=syncs<=1"])
@pytest.mark.parametrize("python", ["/usr/bin/python3.0", os.path.realpath(sys.executable)])
def test_an_environment_whose_python_is_gone_is_made_again(
    tree: Path, tmp_path: Path, word: str, python: str
) -> None:
    """As after an upgrade of Debian: its Python leads to nowhere, or to one that has no package."""
    gone = tmp_path / "gone"
    shutil.copytree(tree, gone, symlinks=True, ignore=shutil.ignore_patterns("playbooks"))
    (gone / ".venv/bin/python").unlink()
    (gone / ".venv/bin/python").symlink_to(python)
    (gone / "playbooks").mkdir()
    (gone / "playbooks/bootstrap.sh").write_text("#!/bin/sh\necho made $1 >&2\nexit 1\n")
    (gone / "playbooks/bootstrap.sh").chmod(0o755)
    os.utime(gone / "playbooks/bootstrap.sh", (0, 0))
    done = run("bin/commitpath", "experiment", word, cwd=gone)
    assert (done.returncode, done.stderr) == (1 if word == "N=2" else 125, "made .venv\n")


@pytest.mark.parametrize("flags", [[], ["-e"], ["-s", "-j2"]])
def test_make_gives_the_same(tree: Path, flags: list[str]) -> None:
    """Also what looks like another variable within a value; and no name that the environment alone has."""
    given = {"CMD": SHELL.replace("$", "$$"), "A": "b\\ N=2\nX=4\tMODE=wal", "B": "x\\", "a-b": "1"}
    done = run("make", *flags, "watch", *(f"{k}={v}" for k, v in given.items()), cwd=tree)
    folder, target, got, left = json.loads(done.stdout)
    # make passes on no value of a name that a shell has no variable for, and no command takes it
    assert (folder, target) == (str(tree), "watch")
    assert got == {**given, "CMD": SHELL, "a-b": ""}
    # what the command starts is given none of it
    assert left == {}


@pytest.mark.parametrize(
    ("name", "value"), [("CMD", "$(shell touch made)"), ("CMD", "$$$i"), ("CMD", "a $$ b $"), ("RUN", "$@")]
)
def test_what_make_would_expand_is_refused_before_anything_runs(tree: Path, name: str, value: str) -> None:
    done = run("make", "watch", "FS=f2fs", f"{name}={value}", cwd=tree)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"commitpath: {name}: make replaces what follows a $; write $$ for each $, or use bin/" in line
    assert not (tree / "made").exists()


def test_columns_of_a_terminal_are_not_those_of_a_command(tree: Path) -> None:
    """Bash sets COLUMNS to the width of the terminal on stderr."""
    terminal, other = os.openpty()
    termios.tcsetwinsize(other, (24, 132))
    line = ["make", "-s", "results", "COLUMNS=run,fs"]
    done = subprocess.run(line, cwd=tree, stdin=other, stdout=subprocess.PIPE, stderr=other, check=True)
    for end in (terminal, other):
        os.close(end)
    assert json.loads(done.stdout)[2] == {"COLUMNS": "run,fs"}


@pytest.mark.parametrize("call", [["make", "--no-print-directory"], ["bin/commitpath"]])
@pytest.mark.parametrize(("target", "near"), [("experimnt", "experiment"), ("a'b$", "")])
def test_an_unknown_target_is_told_what_it_may_have_meant(
    tree: Path, call: list[str], target: str, near: str
) -> None:
    done = run(*call, target, cwd=tree)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    meant = f"did you mean {near}? " if near else ""
    assert f"commitpath: {target}: no such target; {meant}`make help all` prints all" in line


def test_help_needs_no_environment(tree: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(tree, bare, symlinks=True, ignore=shutil.ignore_patterns(".venv"))
    text = (tree / "commitpath/command_line/help.txt").read_text()
    text = text.replace("commitpath", f"commitpath {version()}", 1)
    for call in (["make"], ["make", "help"], ["bin/commitpath"], ["bin/commitpath", "--help"]):
        assert run(*call, cwd=bare).stdout == text
    assert not (bare / ".venv").exists()


def test_help_on_a_target_runs_no_target(tree: Path) -> None:
    for call in (["make", "-s"], ["bin/commitpath"]):
        folder, target, given, _ = json.loads(run(*call, "help", "experiment", cwd=tree).stdout)
        assert (folder, target, given) == (str(tree), "help", {"TOPIC": "experiment"})


def test_help_behind_a_target_does_not_run_it(tree: Path) -> None:
    done = run("make", "experiment", "help", cwd=tree)
    assert (done.returncode, done.stdout) == (2, "")
    assert "commitpath: write make help experiment" in done.stderr


def test_make_elsewhere_is_one_line(tree: Path, tmp_path: Path) -> None:
    done = run("make", "-f", tree / "Makefile", "plan", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "commitpath: make runs in the checkout" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_git_never_changes_the_ends_of_lines() -> None:
    """With core.autocrlf, as Git for Windows has it, no script would start."""
    names = ["Makefile", "bin/commitpath", "experiments/schema.yml", "tests/analysis/golden"]
    line = ["git", "check-attr", "text", "--", *names]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{name}: text: unset" for name in names]


def test_settings_for_another_python_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "yaml.py").write_text("raise SystemExit('another yaml')\n")
    others = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path), "PYTHONSAFEPATH": "1"}
    done = run("bin/commitpath", "plan", "FS=f2fs", cwd=ROOT, **others)
    assert (done.returncode, done.stderr) == (0, "")
    # those that it starts: with -E
    folders = ("analysis", "base", "commitpath", "images", "model", "workloads")
    sources = [path for folder in folders for path in (ROOT / folder).glob("**/*.py")]
    using = {str(path.relative_to(ROOT)) for path in sources if "sys.executable" in path.read_text()}
    # Snakemake has an environment without them, and of uv only the folder is taken
    assert using == {"base/paths.py", "commitpath/commands/table.py", "commitpath/sweep/snakemake.py"}


def test_help_on_what_is_no_target_is_one_line(tree: Path) -> None:
    for topic in ("a;touch x", "expriment"):
        done = run("make", "help", topic, cwd=tree)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
    assert not (tree / "x").exists()


@pytest.mark.parametrize("missing", ["ready", "other"])
def test_the_environment_is_made_once(tree: Path, tmp_path: Path, missing: str) -> None:
    """Whatever the clock was when the checkout's files were written."""
    new = tmp_path / "new"
    shutil.copytree(tree, new, symlinks=True)
    for name in ("requirements.txt", "requirements-build.txt"):
        (new / name).unlink()
        shutil.copy(ROOT / name, new / name)
        os.utime(new / name, (4e9, 4e9))
    (new / "playbooks").unlink()
    (new / "playbooks").mkdir()
    bootstrap = new / "playbooks/bootstrap.sh"
    bootstrap.write_text(f"#!/bin/sh\necho made $1 >&2\nsha256sum {INPUTS} > $1/ready\n")
    bootstrap.chmod(0o755)
    if missing == "ready":
        (new / ".venv/ready").unlink()
    else:
        (new / ".venv/ready").write_text("of other requirements")
    said = [run("bin/commitpath", "results", cwd=new).stderr for _ in range(2)]
    assert said == ["made .venv\n", ""]


def test_each_target_is_a_command_with_its_variables() -> None:
    """One list: a target of the Makefile, a command, an entry of variables.yml."""
    targets = {name for name, _ in help.targets()}
    assert targets == set(table.COMMANDS) == set(variables.commands())
