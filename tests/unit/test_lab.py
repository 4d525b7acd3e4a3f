"""What a lab board needs of the host, its hooks, and which of its runs count."""

from collections.abc import Callable
from pathlib import Path

import pytest

from base.errors import LabError
from commitpath.boards import lab_board, payload
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible, packages
from images import artifacts, programs
from images.cellrun import RunOutput

LAB = {"BOARD": "pi", "CLOCK": "real", "DEVICE": "own", "PROBES": "none", "ROWS": "10"}
ENTRY = {"board_kind": "lab", "board_device": "/dev/disk/by-partlabel/commitpath", "board_device_bytes": 1}


@pytest.mark.parametrize("more", [{"ENGINE": "sqlite"}, {"ENGINE": "leveldb"}])
def test_what_is_built_for_a_lab_board(
    more: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build root and the driver: no userland, kernel, image, probes or emulator."""
    built = []

    def ensure(path: Path, *_: object, **__: object) -> Path:
        built.append(path.name.partition("-")[0])
        path.mkdir(parents=True, exist_ok=True)
        return path

    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(artifacts, "ensure", ensure)
    cell = make_cell({**LAB, **more})
    variables = payload.prepared_variables(cell, programs.driver(cell), ENTRY)
    payload.board_files(variables)
    assert set(built) <= {"build", "driver", "sqlite", cell.sqlite}, built


def test_only_another_board_than_the_first_has_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the first one's snapshots are those of before there were numbers."""
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    for name in ("module", "probes"):
        monkeypatch.setattr(artifacts, name, lambda *_: tmp_path)
    monkeypatch.setattr(programs, "trials", lambda *_: tmp_path)
    entry = {"board_kind": "virtual", "board_device": "/dev/target"}
    first, second = (
        payload.prepared_variables(make_cell({"BOARD_NUMBER": number}), Path("driver"), entry)
        for number in "12"
    )
    assert second == {**first, "board_number": 2}


def test_what_is_installed_for_a_lab_board() -> None:
    lists = ansible.load_yaml(ansible.PLAYBOOKS / "host.yml")[0]["vars"]
    of_lab = [package for name in packages.package_lists(False, virtual=False) for package in lists[name]]
    assert not [package for package in of_lab if "qemu" in package]
    assert "qemu-system-arm" in lists["virtual_packages"]
    assert set(packages.package_lists(False, virtual=False)) < set(packages.package_lists(False))
    # the tests have virtual boards
    assert "virtual_packages" in packages.package_lists(True, virtual=False)


def test_a_password_without_a_terminal_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from cron or CI: Ansible would go on without one, and sudo's answer does not name the packages."""
    monkeypatch.setattr(packages, "missing_packages", lambda *_: ["tcl", "xz-utils"])
    monkeypatch.setattr(packages, "needs_password", lambda: True)
    monkeypatch.setattr(packages, "has_terminal", lambda: False)
    monkeypatch.setattr(ansible, "play", None)
    with pytest.raises(LabError, match=r"no terminal to type it; first run: sudo apt-get .* tcl xz-utils$"):
        packages.ensure_packages()


def test_hosts_of_one_name_are_two_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one path too: each would take the other's run for its own leftovers, and end it."""
    monkeypatch.setattr(payload.socket, "gethostname", lambda: "debian")
    id_file, boot_id = tmp_path / "machine-id", tmp_path / "boot_id"
    monkeypatch.setattr(payload, "MACHINE_IDS", (id_file, boot_id))
    boot_id.write_text("f3e3c5ab-8f0c-4d9c-9a2a-b4e0b5d3c9a1\n")
    owners = [payload.owner("lab", "pi")]
    # as in an image of a container or a system that was never booted
    id_file.write_text("uninitialized\n")
    assert payload.owner("lab", "pi") == owners[0]
    for digit in "12":
        id_file.write_text(f"{digit * 32}\n")
        owners += [payload.owner("lab", "pi")]
    assert len(set(owners)) == 3
    assert all(name.startswith("debian-") for name in owners)
    assert payload.owner("virtual", "virtual") == ""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What hooks have said."""
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(lab_board, "BOOT_POLL_SECONDS", 0.0)
    return tmp_path / "said"


def hooks(said: Path) -> dict[str, str]:
    """Hooks that say what they are."""
    words = {"board_acquire": "acquire", "board_power_cycle": "cycle", "board_release": "release"}
    return {name: f"sh -c 'echo {word} >> {said}'" for name, word in words.items()}


def test_a_board_is_got_and_given_back(said: Path) -> None:
    with pytest.raises(LabError, match=r"^the run$"), lab_board.held("pi", hooks(said)):
        raise LabError("the run")
    assert said.read_text().split() == ["acquire", "release"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("sh -c 'echo taken by X >&2; exit 3'", "failed with 3: taken by X"),
        ("/etc/passwd", "/etc/passwd: Permission denied"),
        ("sh -c 'seq 100000; exit 3'", "failed with 3: 100000$"),
        ("sleep 60", "sleep 60: no end within 2 s"),
    ],
)
def test_a_board_that_is_not_got(
    command: str, says: str, said: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_board, "HOOK_LIMIT_SECONDS", 2.0)
    with pytest.raises(LabError, match=says), lab_board.held("pi", {**hooks(said), "board_acquire": command}):
        raise AssertionError
    assert not said.exists()


def answers(*tries: Exception | None) -> Callable[[], None]:
    """The first step with a board that does that each time."""
    left = iter(tries)

    def first() -> None:
        if error := next(left):
            raise error

    return first


def test_a_board_that_does_not_answer_is_switched_off_and_on(said: Path) -> None:
    silent = ansible.UnreachableError("no route")
    lab_board.reached(hooks(said), answers(None))
    assert not said.exists()
    lab_board.reached(hooks(said), answers(silent, silent, None))
    assert said.read_text().split() == ["cycle"]
    with pytest.raises(ansible.UnreachableError):
        lab_board.reached({}, answers(silent))
    # what else is wrong no switch mends
    with pytest.raises(LabError, match="not root"):
        lab_board.reached(hooks(said), answers(LabError("not root")))
    assert said.read_text().split() == ["cycle"]


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("", "end marker is not whole"),
        ("r0 b1 b1", "sent the run r0, and r1 was begun"),
        ("r1 b1 b2", "was booted anew since it was taken"),
    ],
)
def test_a_run_that_does_not_count(end: str, says: str) -> None:
    with pytest.raises(LabError, match=says):
        lab_board.check_end(RunOutput(payload.tar_of({"end": end.encode()})), "r1")


def test_a_run_that_counts() -> None:
    lab_board.check_end(RunOutput(payload.tar_of({"end": b"r1 b1 b1\n"})), "r1")


def test_a_board_that_is_not_given_back(said: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {**hooks(said), "board_release": "false"}
    with pytest.raises(LabError, match=r"board_release: .* failed with"), lab_board.held("pi", entry):
        pass
    with pytest.raises(LabError, match=r"^the run$"), lab_board.held("pi", entry):
        raise LabError("the run")
    assert "the board was not given back either: board_release" in capsys.readouterr().err
