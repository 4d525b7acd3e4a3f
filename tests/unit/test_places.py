"""Where commitpath works: paths that can be quoted, writable folders, and only caches that it made."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import commands
import pytest

from base.errors import BadInputError
from commitpath.host import places
from images import board, qemu, ssh
from images.board import VirtualBoard

ROOT = Path(__file__).resolve().parents[2]


def test_qemu_is_told_names_without_any_path(nasty: Path) -> None:
    """A comma ends an option of QEMU's, and a socket's name has 107 bytes."""
    (nasty / "vm").mkdir()
    (nasty / "saved").mkdir()
    virtual = VirtualBoard(nasty / "image", nasty / "keys", 64, 2, nasty)
    machine = virtual.machine(nasty / "vm", "virtual", nasty / "saved/ram", False, 22)
    line = machine.arguments()
    assert not [word for word in line if str(nasty) in word]
    machine.link_files()
    names = {name for word in line for name in re.findall(r"(?:image|keys|memory)/\w+", word)}
    assert {name.partition("/")[0] for name in names} == {"image", "keys", "memory"}
    for name in names:
        folder = {"memory": "saved"}.get(name.partition("/")[0], name.partition("/")[0])
        assert os.path.realpath(nasty / "vm" / name).startswith(f"{nasty / folder}/")


def effective(options: list[str]) -> dict[str, str]:
    """What ssh makes of its options, by name."""
    done = subprocess.run(
        ["ssh", "-F", "none", "-G", *options, "b"], capture_output=True, text=True, check=True
    )
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def test_ssh_takes_a_path_as_one_word(nasty: Path) -> None:
    """A blank begins another file's name, a percent sign is a token: here the host's."""
    login = ssh.Login(22, nasty / "keys")
    found = effective(login.ssh_options())
    # -G says what is expanded later
    assert found["identityfile"].replace("%%", "%") == str(nasty / "keys/id")
    assert found["userknownhostsfile"].replace("%%", "%") == str(nasty / "keys/known_hosts")
    assert str(nasty).count("%") == found["identityfile"].count("%%") == 1


def test_ssh_reads_none_of_the_users_settings() -> None:
    """Such as a proxy for each host."""
    line = ["ssh", "-v", "-G", *ssh.Login(22, Path("keys")).ssh_options(), "127.0.0.1"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "OpenSSH" in done.stderr
    assert "Reading configuration data" not in done.stderr


class Shell:
    """A monitor that runs what QEMU would, where QEMU would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *_: object) -> None:
        """Stop and quit: nothing to do."""

    def migrate(self, _: str, uri: str) -> None:
        subprocess.run(["sh", "-c", uri.removeprefix("exec:")], input=b"devices", cwd=self.folder, check=True)


def test_a_boards_state_is_written_where_it_belongs(nasty: Path, tmp_path: Path) -> None:
    board.save_state(Shell(tmp_path), nasty)  # type: ignore[arg-type]
    assert (nasty / "state").read_bytes() == b"devices"
    assert [path.name for path in nasty.iterdir()] == ["state"]


def test_a_long_socket_name_is_reached(nasty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    virtual = VirtualBoard(nasty, nasty, 64, 2, nasty)
    machine = virtual.machine(nasty, "virtual", nasty / "ram", False, None)
    assert len(str(nasty / "qmp")) > 107
    # no board: what listens is QEMU itself, without a machine
    none = ["-machine", "none", "-display", "none"]
    line = ["qemu-system-aarch64", *none, "-qmp", "unix:qmp,server=on,wait=off"]
    monkeypatch.setattr(qemu.Machine, "arguments", lambda _: line)
    with qemu.running(machine) as process, qemu.Monitor(machine, process) as monitor:
        assert monitor.command("query-status")["status"]


@pytest.mark.parametrize("name", ["a:b", "a\nb", "a\udcffb"])
def test_a_path_that_cannot_work_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="does not work; it may have any printable") as error:
        places.check_name(tmp_path / name, "")
    assert len(str(error.value).splitlines()) == 1
    assert str(error.value).isprintable()


@pytest.mark.parametrize("name", ["a$b", "a\nb", "all that works"])
def test_the_first_command_says_the_same(name: str, nasty: Path) -> None:
    """Before Python's environment is made."""
    folder = nasty / name
    folder.mkdir()
    done = subprocess.run(
        ["/bin/bash", ROOT / "playbooks/bootstrap.sh", "venv"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        # neither a package nor an environment is made in a test
        env={"PATH": "/nowhere"},
    )
    if name == "all that works":
        assert "does not work" not in done.stderr
    else:
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert done.stderr.strip().endswith(f"but {' '.join(places.REFUSED)}")
    assert not list(folder.iterdir())


def a_file(folder: Path) -> Path:
    (folder / "results").write_text("mine")
    return folder / "results"


def a_dangling_link(folder: Path) -> Path:
    (folder / "results").symlink_to(folder / "gone")
    return folder / "results"


def below_a_file(folder: Path) -> Path:
    return a_file(folder) / "here"


def read_only(_: Path) -> Path:
    """Nobody writes there, root neither."""
    return Path("/proc/self")


PLACES = [a_file, a_dangling_link, below_a_file, read_only]
WRITERS = ["experiment", "sweep", "reproduce", "results", "import", "export", "compare"]


@pytest.mark.parametrize("name", ["RESULTS", "CACHE"])
@pytest.mark.parametrize("make_place", PLACES)
def test_a_folder_that_cannot_be_written_is_told_first(
    make_place: Callable[[Path], Path], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place(tmp_path)
    before = list(tmp_path.iterdir())
    for which in ("RESULTS", "CACHE"):
        monkeypatch.setattr(places, which, place if which == name else tmp_path / "fine" / which)
    with pytest.raises(BadInputError, match=rf"^/.*; COMMITPATH_{name}=<folder> names another$"):
        places.begin("experiment")
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", WRITERS)
def test_each_command_that_writes_results_says_so(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "RESULTS", a_dangling_link(tmp_path))
    with pytest.raises(BadInputError, match="a link to "):
        places.begin(command)


def test_a_folder_in_place_of_latest_is_named_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a copy that followed links has it: the run would be stored, and then not analysed."""
    monkeypatch.setattr(places, "RESULTS", tmp_path)
    monkeypatch.setattr(places, "CACHE", tmp_path / "cache")
    (tmp_path / "latest").symlink_to("gone")
    places.begin("experiment")
    (tmp_path / "latest").unlink()
    (tmp_path / "latest").mkdir()
    with pytest.raises(BadInputError, match=f"^{tmp_path}/latest: not the link to the newest run"):
        places.begin("experiment")
    places.begin("results")


# Names in a cache that make destroy deletes.
MADE = (
    "image-0123456789ab",
    "image-0123456789ab.lock",
    "driver-3.46.1-0123456789ab",
    "board-mine.lock",
    "vm",
    "snapshots",
    "keys",
    "log",
    "vm-01234567.commitpath.part",
)


def a_cache(folder: Path, *others: str) -> Path:
    """A cache as commands leave it, with what somebody else has put in it."""
    cache = folder / "cache"
    for name in (*MADE, *others):
        (cache / name).mkdir(parents=True)
        (cache / name / "file").touch()
    return cache


def test_destroy_is_safe_to_repeat(tmp_path: Path) -> None:
    cache = a_cache(tmp_path)
    for _ in range(2):
        done = commands.call("destroy", COMMITPATH_CACHE=str(cache))
        assert done.returncode == 0, done.stderr
        assert not cache.exists()


def test_destroy_leaves_what_others_put_into_a_cache(tmp_path: Path) -> None:
    cache = a_cache(tmp_path, "thesis", "image-of-mine")
    (cache / places.TAG).write_text(places.TAG_TEXT)
    done = commands.call("destroy", COMMITPATH_CACHE=str(cache))
    assert done.returncode == 0, done.stderr
    assert "did not make: image-of-mine, thesis" in done.stdout
    assert sorted(path.name for path in cache.iterdir()) == ["image-of-mine", "thesis"]


@pytest.mark.parametrize("names", [("log",), (*MADE, "docs"), ("CACHEDIR.TAG",)])
def test_a_folder_of_others_is_no_cache(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).mkdir()
    with pytest.raises(BadInputError, match="it is not a cache that commitpath made"):
        places.check_cache(tmp_path)


@pytest.mark.parametrize("command", ["destroy", "experiment"])
def test_no_command_takes_a_folder_of_others(command: str, tmp_path: Path) -> None:
    """So that none of it is deleted later."""
    (tmp_path / "log").mkdir()
    done = commands.call(command, COMMITPATH_CACHE=str(tmp_path))
    assert done.returncode == 2
    assert "it is not a cache that commitpath made" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize("command", [("sweep", "GRID=none"), ("plan", "ROWS=none")])
def test_a_cache_is_marked_when_it_is_made(command: tuple[str, str], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert commands.call(*command, COMMITPATH_CACHE=str(cache)).returncode == 2
    assert (cache / places.TAG).read_text() == places.TAG_TEXT
