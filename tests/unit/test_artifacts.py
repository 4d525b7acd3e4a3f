"""Artefacts appear whole or not at all; failed, hanging and interrupted builds tidy up and give a reason."""

import contextlib
import os
import shutil
import signal
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from base import scratch
from base.errors import LabError
from images import artifacts, compiling


def test_whole_appears_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "thing"
    with artifacts.whole(folder, "make a thing") as part:
        (part / "file").touch()
        assert not folder.exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["thing", "file"]


def test_what_a_killed_call_left_is_not_used(tmp_path: Path) -> None:
    left = tmp_path / "thing-00000001.commitpath.part" / "half"
    left.parent.mkdir()
    left.touch()
    (left.parent / scratch.LOCK).touch()
    with artifacts.whole(tmp_path / "thing", "make a thing") as part:
        assert not left.parent.exists()
        assert [path.name for path in part.iterdir()] == [scratch.LOCK]
    assert not list((tmp_path / "thing").iterdir())


def test_sources_that_were_fetched_in_part_are_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fetching ends after the first file, as on a full disk; then it succeeds."""
    monkeypatch.setattr(artifacts, "CACHE", tmp_path / "cache")
    monkeypatch.delenv("npm_config_cache", raising=False)
    script = tmp_path / "fetch.py"
    for end in ("sys.exit('full')", "(folder / 'sqlite3.c').touch()"):
        script.write_text(
            "import os, pathlib, sys\nfolder = pathlib.Path(sys.argv[-1])\nfolder.mkdir()\n"
            # not in a home
            "assert str(folder.parent) == os.environ['TMPDIR'] in os.environ['npm_config_cache']\n"
            f"(folder / 'sqlite3.h').touch()\n{end}\n"
        )
        with contextlib.suppress(LabError):
            artifacts.run_fetch(script, tmp_path / "made", "fetch", "1.0")
        assert (tmp_path / "made").exists() == ("sqlite3.c" in end)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["sqlite3.c", "sqlite3.h"]
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["log"]


def test_each_fetched_source_appears_whole() -> None:
    for module in (artifacts, compiling):
        text = Path(module.__file__).read_text()
        assert "fetch.py" in text
        assert "run_fetch(" in text


@pytest.mark.parametrize(
    ("user", "name", "installs"),
    [
        (0, "plain", False),
        (0, "plain", True),
        (1000, "plain", False),
        (1000, 'a "b', False),
        (1000, "x", True),
    ],
)
def test_debian_is_unpacked_in_the_cache_by_a_root_with_the_users_rights(
    user: int, name: str, installs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's adduser makes homes of mode 0700, and /tmp may be too small (tests/fresh-machine)."""
    ran = list[str]()

    def run(command: list[str], _: str) -> None:
        ran.extend(command)
        Path(command[-1]).touch()

    monkeypatch.setattr(artifacts, "CACHE", tmp_path / name)
    monkeypatch.setattr(artifacts, "run", run)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(artifacts, "mounts_apart", lambda: artifacts.MOUNTS_APART)
    artifacts.build_debian("build-root.sh", tmp_path / name / "build-root-1", installs=installs)
    assert (tmp_path / name / "build-root-1").exists()
    assert (f"TMPDIR={Path(ran[-1]).parent}" in ran) == (name == "plain")
    # root's mounts end with the processes
    assert ("--mount" in ran) == (user == 0)
    assert ("--map-auto" in ran) == (user > 0 and not installs)


def test_a_root_who_may_not_mount_builds_without_a_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container without CAP_SYS_ADMIN."""
    monkeypatch.setattr(artifacts, "MOUNTS_APART", ("false",))
    assert artifacts.mounts_apart() == ()


def test_a_build_reports_errors_in_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with pytest.raises(LabError, match=r"thing failed: E: C\.UTF-8 "):
        artifacts.run(["sh", "-c", 'echo "E: $LC_ALL"; exit 1'], "thing")


def test_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(4096))
    said = f"^no disk space left in {tmp_path} to make a thing: the board ended$"
    with pytest.raises(LabError, match=said), artifacts.whole(tmp_path / "thing", "make a thing"):
        raise LabError("the board ended")


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            "make: Entering directory\nmain.c:7:2: error: implicit declaration of f\nmake: *** [x]\n",
            "main.c:7",
        ),
        ('make: Entering directory\nERROR: modpost: "f" [flashsim.ko] undefined!\n', "ERROR: modpost"),
        ("E: no such mirror\nmore\n", "E: no such mirror"),
    ],
)
def test_the_line_that_says_why(log: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    text = tmp_path / "text"
    text.write_text(log)
    with pytest.raises(LabError, match=rf"^thing failed: {said}.*all of it: {tmp_path}/log/thing.log"):
        artifacts.run(["sh", "-c", f"cat {text}; exit 1"], "thing")


def test_flash_model_without_kernel_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib/modules/6.99.1-own").mkdir(parents=True)
    monkeypatch.setattr(artifacts, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(artifacts, "kernel", lambda _: tmp_path)
    monkeypatch.setattr(artifacts, "build_root", lambda: tmp_path)
    with pytest.raises(LabError, match=rf"no linux-headers-6.99.1-own in {tmp_path}/src"):
        artifacts.module(artifacts.IMAGES / "devices/flashsim", {})
    assert not list((tmp_path / "cache").glob("*/"))


# As the scripts of images/ do it; the alarm comes once there is something to tidy up, and not at once: what
# is raised while Python's own code after a fork runs is dropped.
BUILD = """
work=$(mktemp -d "$1/thing.XXXXXX")
trap 'sleep 1; rm -rf "$work"' EXIT
sh -c 'echo $$ > "$1/pid"; sleep 1; kill -ALRM "$2"; exec sleep 30' sh "$1" "$PPID"
"""


@pytest.fixture
def alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SIGALRM interrupts as Ctrl-C does; a cache of its own."""
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
def test_an_interrupted_build_tidies_up_and_leaves_nothing_running(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        artifacts.run(["bash", "-c", BUILD, "bash", str(tmp_path)], "thing")
    # a zombie has no command line; who reaps it is not for us to say
    child = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/cmdline")
    begin = time.monotonic()
    while child.exists() and child.read_bytes():
        assert time.monotonic() - begin < 10
        time.sleep(0.1)
    assert not list(tmp_path.glob("thing.*"))


@pytest.mark.usefixtures("alarm")
def test_a_build_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "TIDY_UP_SECONDS", 0.2)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        artifacts.run(["sh", "-c", "trap '' TERM; sleep 1; kill -ALRM $PPID; sleep 30"], "thing")
    assert time.monotonic() - begin < 10
