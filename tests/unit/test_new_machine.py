"""A new machine: the least Python, pinned packages, the environment's first install, nothing in a home."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from commitpath.boards.payload import tar_of
from commitpath.run.experiment import host_facts
from images.cellrun import RunOutput

ROOT = Path(__file__).resolve().parents[2]
LEAST = "3.11"


def test_one_least_python() -> None:
    """What the environment takes, what is linted for, and what packages are pinned for."""
    bootstrap = (ROOT / "playbooks/bootstrap.sh").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    assert set(re.findall(r"sys\.version_info < \((\d+), (\d+)\)", bootstrap)) == {tuple(LEAST.split("."))}
    assert f'python_version = "{LEAST}"' in project
    assert f'target-version = "py{LEAST.replace(".", "")}"' in project
    assert f'"--python-version", "{LEAST}",' in (ROOT / "commitpath/commands/dispatch.py").read_text()


@pytest.mark.parametrize("name", ["requirements", "requirements-build"])
def test_every_package_is_pinned_with_its_hash(name: str) -> None:
    asked = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / f"{name}.in").read_text(), re.M)
    locked = (ROOT / f"{name}.txt").read_text()
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)(?: ; .*)? \\\n    --hash=sha256:[0-9a-f]{64}", locked, re.M))
    assert len(pins) == len(set(re.findall(r"^([\w.-]+)==", locked, re.M))) >= len(asked) > 0
    for package, version in asked:
        assert pins[package.lower().replace(".", "-")] == version
    assert "http" not in locked


def test_declared_programs_are_those_of_declared_packages(tmp_path: Path) -> None:
    """What this machine has beside them is not found: a test that passes here passes on a new one."""
    subprocess.run([ROOT / "tests/declared-programs", tmp_path / "bin"], check=True)
    there = {path.name for path in (tmp_path / "bin").iterdir()}
    assert {"cc", "make", "tclsh", "qemu-system-aarch64", "awk", "ssh", "python3", "git"} <= there
    for name in there:
        assert os.access(tmp_path / "bin" / name, os.X_OK), name
    # neither package is declared, though a developer may have both
    assert not there & {"clang-format", "shellcheck", "strace"}


def test_a_machine_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert host_facts()["commitpath_commit"] == "not a git checkout"


def test_the_commit_is_of_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a hook of another repository, and where another user owns the checkout."""
    expected = host_facts()["commitpath_commit"]
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    # as Git's own tests have it
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert host_facts()["commitpath_commit"] == expected != "not a git checkout"


def test_results_are_unpacked(tmp_path: Path) -> None:
    sent = tar_of({"raw/board/mounts": b"abc", "other": b"abc"})
    RunOutput(sent).extract(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == [
        "raw",
        "raw/board",
        "raw/board/mounts",
    ]
    assert (tmp_path / "raw/board/mounts").read_bytes() == b"abc"


# A playbook, here and by ssh.
WRITERS = """
import sys
from pathlib import Path
from commitpath.host import ansible
from base.errors import LabError
play, log = "../" * 9 + sys.argv[1], Path(sys.argv[1] + ".log")
ansible.play(play, {"ansible_connection": "local"}, log)
try:
    ansible.play(play, {"ansible_host": "127.0.0.1", "ansible_port": 1}, log)
except LabError as error:
    said = str(error)
# where ssh ends before Ansible writes to it, Ansible reports that instead
assert "Connection refused" in said or "Broken pipe" in said, said
"""
PLAYBOOK = """
- hosts: virtual
  gather_facts: false
  tasks:
    - ansible.builtin.command:
        cmd: "true"
"""


def test_ansible_writes_nothing_to_a_home(tmp_path: Path) -> None:
    """It keeps files there unless told otherwise; commands without a board: test_other_user.py."""
    home = tmp_path / "home"
    home.mkdir()
    clean = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": str(home)}
    playbook = tmp_path / "local.yml"
    playbook.write_text(PLAYBOOK)
    command = [sys.executable, "-c", WRITERS, str(playbook)]
    subprocess.run(command, cwd=ROOT, env=clean, check=True, stdout=subprocess.DEVNULL)
    assert not list(home.iterdir())


def bootstrap(folder: Path, requirements: str, **settings: str) -> list[str]:
    """What two first calls at once say that make an environment with these requirements."""
    (folder / "requirements.txt").write_text(requirements)
    shutil.copy(ROOT / "requirements-build.txt", folder)
    for name in ("requirements.txt", "requirements-build.txt"):
        os.utime(folder / name, (0, 0))
    command, given = [ROOT / "playbooks/bootstrap.sh", "venv"], {**os.environ, **settings}
    calls = [
        subprocess.Popen(command, cwd=folder, env=given, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [call.communicate(timeout=300)[1] for call in calls]
    assert [call.returncode for call in calls] == [0, 0], said
    assert not (folder / "venv/uv-cache").exists()
    return said


def test_two_first_calls_at_once_make_one_environment(tmp_path: Path) -> None:
    """By uv, whatever the user has set for it."""
    (tmp_path / "uv.toml").write_text('no-cache = true\nlink-mode = "symlink"\n')
    locked = (ROOT / "requirements.txt").read_text()
    pinned = re.search(r"^iniconfig==(?:.*\\\n)+.*\n", locked, re.M)
    assert pinned
    said = bootstrap(tmp_path, pinned[0], UV_LINK_MODE="symlink", UV_TARGET=str(tmp_path / "elsewhere"))
    assert sorted("wait for another call" in lines for lines in said) == [False, True]
    assert sorted("environment: done" in lines for lines in said) == [False, True]
    settings = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, check=True
    )
    # on a machine with an index or a proxy of its own
    by_pip = re.search(rb"index|proxy|trusted-host|client-cert", settings.stdout) is not None
    assert ("by pip" in "".join(said)) == by_pip
    subprocess.run([tmp_path / "venv/bin/python", "-c", "import iniconfig"], check=True)


def test_packages_come_from_where_pips_settings_have_them(tmp_path: Path) -> None:
    wheel = tmp_path / "wheels/tiny-1-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("tiny.py", "")
        made.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        made.writestr(
            "tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr("tiny-1.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    settings = {"PIP_FIND_LINKS": f"{tmp_path}/gone {wheel.parent}", "PIP_USER": "1", "PYTHONHOME": "/gone"}
    for more, by in ({}, "done"), ({"PIP_TRUSTED_HOST": "localhost"}, "by pip (pip's index or proxy)"):
        said = "".join(bootstrap(tmp_path, f"tiny==1 --hash=sha256:{digest}\n", **settings, **more))
        assert by in said
        subprocess.run([tmp_path / "venv/bin/python", "-c", "import tiny"], check=True)
        shutil.rmtree(tmp_path / "venv")
