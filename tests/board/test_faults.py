"""What goes wrong on a board or beside it: one clear line, nothing left running or half-made."""

import fcntl
import glob
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from base import scratch
from base.errors import LabError
from commitpath.boards.prepared import ensure_snapshot, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from commitpath.run import experiment
from images import artifacts, programs, snapshot
from images.board import VirtualBoard
from images.cellrun import RunOutput
from images.snapshot import SnapshotError

ROOT = Path(__file__).resolve().parents[2]
CELL = {"ROWS": "1000", "N": "50", "FS": "ext4"}
# For a run that must still be going on when a test does something to it, on whatever machine.
LONG = ["N=100000"]


def boards_running(group: int | None = None) -> list[int]:
    """Every QEMU that a process of a group started; those of this process by default."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            # a board, and not `qemu-system-aarch64 --version`
            if not line.startswith(b"qemu-system-aarch64\0-machine\0"):
                continue
            # an orphan of this checkout, or a child
            ours = os.getpgid(parent) == group if group else parent == os.getpid()
            here = (process / "cwd").readlink().is_relative_to(artifacts.CACHE.resolve())
            if ours or (parent == 1 and here):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def parts() -> set[Path]:
    """Half-made folders of runs and artefacts; another call at work may have some of its own."""
    # Path's stops at a folder that another call has just removed
    find = glob.glob
    found = find("*/.*.part", root_dir=experiment.RESULTS)
    made = [path for depth in ("*.part", "*/*.part") for path in find(depth, root_dir=artifacts.CACHE)]
    return {*(experiment.RESULTS / path for path in found), *(artifacts.CACHE / path for path in made)}


def left(before: set[Path]) -> set[Path]:
    """What is half-made now, stays so, and is held by nobody.

    What another call is making is whole in the end; a folder that it holds, as that of a board that
    runs, may be there for longer than is waited for.
    """
    found = parts() - before
    deadline = time.monotonic() + 300
    while (found := {path for path in found & parts() if not held(path)}) and time.monotonic() < deadline:
        time.sleep(1)
    return found


def held(path: Path) -> bool:
    """Whether a living process holds a folder (base/scratch.py)."""
    try:
        with (path / scratch.LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    return False


started: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _nothing_goes_on() -> Iterator[None]:
    """A call that a failed test left behind must not stand in the way of the next."""
    yield
    while started:
        process = started.pop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def start(*variables: str, **environment: str) -> subprocess.Popen[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    process = subprocess.Popen(
        ["make", "-s", "-C", str(ROOT), "experiment", *variables],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**clean, **environment},
        start_new_session=True,
    )
    started.append(process)
    return process


def small() -> list[str]:
    return [f"{name}={value}" for name, value in CELL.items()]


def saved_board() -> tuple[VirtualBoard, Path]:
    cell = make_cell(CELL)
    entry = ansible.board("virtual")
    driver = programs.driver(cell)
    return virtual_board(cell), ensure_snapshot(cell, driver, entry)


def test_guest_that_dies_in_the_run(on_board: Callable[..., RunOutput]) -> None:
    with pytest.raises(LabError, match=r"the board died .*Kernel panic"):
        on_board("echo c > /proc/sysrq-trigger\n", FS="ext4")
    assert not boards_running()


@pytest.mark.parametrize(
    ("says", "error"),
    [
        ("run-cell: driver starts", "no end of the run within 5 s"),
        ("something else", "did not say 'run-cell: driver starts' within 5 s; its last line: something else"),
    ],
)
def test_guest_that_hangs_in_the_run(says: str, error: str) -> None:
    board, saved = saved_board()
    script = f"echo '{says}' > /dev/console\nwhile :; do :; done\n"
    with pytest.raises(LabError, match=error):
        board.run_cell(saved, {"run-cell.sh": script.encode()}, 5)
    assert not boards_running()


def test_limit_ends_a_run() -> None:
    saved_board()
    before = parts()
    process = start(*small(), *LONG, "PROBES=none", "LIMIT=1")
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "within 1 s" in said.splitlines()[-1] or "within 1 s" in said.splitlines()[-2], said
    assert not boards_running(process.pid)
    assert not left(before)


def test_guest_that_does_not_boot(tmp_path: Path) -> None:
    board, _ = saved_board()
    for name in ("vmlinuz", "root.img"):
        (tmp_path / name).symlink_to(board.image / name)
    (tmp_path / "initrd").write_bytes(b"no initramfs")
    broken = VirtualBoard(tmp_path, board.keys, board.memory_mib, board.cpu_ns, board.scratch)
    with pytest.raises(LabError, match="the board ended before the board is up"), broken.started("provision"):
        pass
    assert not boards_running()


def test_damaged_snapshot_is_noticed(tmp_path: Path) -> None:
    board, saved = saved_board()
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", "--sparse=always", saved, copy], check=True)
    assert snapshot.fault(copy) is None
    with (copy / "ram").open("r+b") as ram:
        ram.seek(64 << 20)
        byte = ram.read(1)
        ram.seek(64 << 20)
        ram.write(bytes([byte[0] ^ 1]))
    with pytest.raises(SnapshotError, match="memory is not what was saved"):
        board.run_cell(copy, {"run-cell.sh": b"exit 0\n"}, 60)
    os.truncate(copy / "ram", 64 << 20)
    assert "has another size" in str(snapshot.fault(copy))
    state = (copy / "state").read_bytes()
    (copy / "state").write_bytes(state[: len(state) // 2])
    assert "not what was saved" in str(snapshot.fault(copy))
    (copy / "snapshot.json").write_text("{")
    assert "it is incomplete" in str(snapshot.fault(copy))


@pytest.mark.parametrize("seconds", [0.3, 2, 6])
def test_interrupt_leaves_nothing(seconds: float) -> None:
    saved_board()
    before = parts()
    process = start(*small(), *LONG)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in said
    assert not boards_running(process.pid)
    assert not left(before)


# One whose trials go on for a while.
CUT = ["DEVICE=emmc-5.0", "MODE=delete", "ROWS=1000", "N=10", "PROBES=none", "CRASH=power", "CUTS=40"]


def in_its_trials(results: Path) -> subprocess.Popen[str]:
    """A call that has come to its trials, and whose boards of them run."""
    process = start(*CUT, COMMITPATH_RESULTS=str(results))
    assert process.stderr
    while not (said := process.stderr.readline()).startswith("try 40 cuts of the run"):
        assert said, "it ended before"
    deadline = time.monotonic() + 60
    while not boards_running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    return process


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_trials_leaves_nothing(told: signal.Signals, tmp_path: Path) -> None:
    """The group's, as a terminal sends it; or what ends the one process that make waits for."""
    before = parts()
    process = in_its_trials(tmp_path)
    time.sleep(3)
    if told == signal.SIGINT:
        os.killpg(process.pid, told)
    else:
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(child), told)
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    # the step that it was in, and make's own word
    assert [line for line in said.splitlines() if line.startswith("commitpath:")] == [
        "commitpath: interrupted; nothing is left running"
    ], said
    assert "Traceback" not in said
    assert not boards_running(process.pid)
    assert not left(before)
    assert not any(tmp_path.iterdir())


def test_kill_leaves_no_board() -> None:
    saved_board()
    process = start(*small(), *LONG)
    deadline = time.monotonic() + 60
    while not boards_running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    # the watched run's, and its twin's if that has started too
    boards = boards_running(process.pid)
    assert boards
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(1)
    # a zombie has no command line; who reaps it is not for us to say
    left = [Path(f"/proc/{board}/cmdline") for board in boards]
    assert not any(path.exists() and path.read_bytes() for path in left)


def test_killed_board_is_one_line() -> None:
    saved_board()
    before = parts()
    process = start(*small(), *LONG)
    deadline = time.monotonic() + 60
    while not boards_running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(3)
    # either of the two, the watched run's and its twin's
    os.kill(boards_running(process.pid)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "the board died " in said
    assert not left(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk and a cut network need root to stage")
def test_no_network_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        ["unshare", "--net", "make", "-s", "-C", str(ROOT), "experiment", *small()],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "COMMITPATH_CACHE": str(tmp_path / "cache")},
    )
    last = [line for line in done.stderr.splitlines() if line.startswith("commitpath:")]
    assert done.returncode != 0
    assert len(last) == 1
    assert "build-root failed" in last[0]
    assert not list((tmp_path / "cache").glob("userland-*/"))


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk and a cut network need root to stage")
def test_full_disk_is_one_line(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20M", "tmpfs", tmp_path], check=True)
    try:
        process = start(*small(), COMMITPATH_CACHE=str(tmp_path))
        _, said = process.communicate(timeout=120)
        assert process.returncode != 0
        assert "no disk space to build the build root" in said
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_probe_that_cannot_attach_fails_the_run(on_board: Callable[..., RunOutput]) -> None:
    script = (ansible.PLAYBOOKS / "board/run-cell.sh").read_bytes()
    output = on_board(script.decode(), {"bin/ext4.bpf.o": b"no probe"}, FS="ext4")
    assert output.text("run-cell.status").strip() != "0"
    assert "/bin/ext4.bpf.o: BPF object format invalid" in output.text("run-cell.log")
    assert "watch ended with 1, and was to end: ok" in output.text("run-cell.log")


def test_kernel_log_without_its_beginning_is_not_quiet(on_board: Callable[..., RunOutput]) -> None:
    """What a full log loses first is what the run's first error said."""
    run = (ansible.PLAYBOOKS / "board/run-cell.sh").read_bytes()
    script = "cd /run/commitpath && sh watch.sh start && dmesg --clear && sh whole-run.sh"
    output = on_board(script, {"whole-run.sh": run}, PROBES="none")
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
    assert "<3>run-cell: the kernel logged too much" in output.text("raw/dmesg.txt")
