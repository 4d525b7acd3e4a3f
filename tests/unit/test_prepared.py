"""Prepared boards: a damaged snapshot is made again, locks are removed, probes must record what is known."""

import fcntl
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from base import scratch
from base.errors import LabError
from commitpath.boards import prepared
from commitpath.boards.payload import tar_of
from commitpath.cells.from_variables import make_cell
from commitpath.commands import board_commands, calibrate
from commitpath.commands import sweep_job as job
from commitpath.host import ansible
from commitpath.run import experiment, plan
from images import artifacts, programs, snapshot
from images.cellrun import RunOutput
from images.snapshot import SnapshotError

BOARD = {"board_kind": "virtual", "board_device": "/dev/target"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A snapshot, sealed."""
    folder = tmp_path / "snapshots/provisioned-null_blk-1"
    folder.mkdir(parents=True)
    (folder / "ram").write_bytes(b"memory")
    (folder / "state").write_bytes(b"devices")
    snapshot.write(folder, {})
    return folder


def test_what_is_damaged_is_named_and_made_again_once(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (saved / "ram").write_bytes(b"memorY")

    def work() -> None:
        raise SnapshotError(saved, "its memory is not what was saved")

    fault = f"the snapshot {saved.name}: its memory is not what was saved"
    with pytest.raises(SnapshotError, match=fault):
        prepared.again_if_damaged(work)
    assert capsys.readouterr().err == f"{fault}; it is made again\n"
    assert not saved.exists()


def test_the_list_names_a_board_that_is_not_the_first(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    for inputs, ends in (({}, "a device of 9 MiB"), ({"board_number": 2}, "a device of 9 MiB  board 2")):
        snapshot.write(saved, {"device_size_mib": 9, **inputs})
        board_commands.snapshots({})
        assert capsys.readouterr().out.rstrip().endswith(ends)


def test_probes_that_do_not_record_what_is_known_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, and no snapshot with them is left."""

    class Board:
        def attach(self, _: Path, files: object, part: Path) -> None:
            (part / "ram").write_bytes(b"memory")
            (part / "state").write_bytes(b"devices")

        def run_cell(self, watched: Path, files: dict[str, bytes], _: float) -> RunOutput:
            assert files["run-cell.sh"] == prepared.known_sequence()
            return RunOutput(tar_of({"run-cell.status": status, "run-cell.log": b"dd failed\n"}))

    status, found = b"0\n", ["block: 3 flushes", "flush: none"]
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr("analysis.adapters.known_sequence.read", lambda _: None)
    monkeypatch.setattr("analysis.instrument.probe_selftest.wrong", lambda *_, **__: found)
    monkeypatch.setattr(snapshot, "read_meta", lambda _: {"inputs": {"memory_mib": 1}})
    monkeypatch.setattr(prepared, "remove_unfit", lambda *_: None)
    cell, folder = make_cell({"FS": "f2fs", "KERNEL": "6.1"}), tmp_path / "snapshots/prepared"
    folder.parent.mkdir()

    def watch() -> Path:
        return prepared.ensure_watched(cell, folder, {}, Board())  # type: ignore[arg-type]

    what = "KERNEL=6.1 FS=f2fs: a known sequence of writes and syncs"
    with pytest.raises(LabError, match=f"^{what} is not what the probes recorded: {'; '.join(found)} .*tar"):
        watch()
    assert not list(folder.parent.glob("prepared+*[0-9a-f]"))
    status = b"1\n"
    with pytest.raises(LabError, match=f"^{what} failed: dd failed$"):
        watch()
    status, found = b"0\n", []
    assert watch().is_dir()


@pytest.mark.parametrize(
    ("place", "name", "call"),
    [
        (
            experiment,
            "ensure_snapshot",
            lambda cell: experiment.run_virtual(cell, Path("driver"), BOARD, plan.Plan({}, [{}, {}]), 1.0),
        ),
        (prepared, "ensure_snapshot", lambda cell: job.prepare(cell, watched=False)),
        (calibrate, "ensure_snapshot", calibrate.calibrate),
        (prepared, "prepared_board", lambda _: board_commands.board({})),
    ],
    ids=["run", "job", "calibrate", "board"],
)
def test_whoever_needs_it(
    place: object, name: str, call: Callable[..., object], saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = iter((SnapshotError(saved, "damaged"), LookupError("the second try")))

    def ensure(*_: object) -> None:
        raise next(tries)

    monkeypatch.setattr(place, name, ensure)
    for module in (prepared, experiment, calibrate):
        monkeypatch.setattr(module, "virtual_board", lambda _: artifacts)
    monkeypatch.setattr(artifacts, "image", lambda: Path("image"))
    monkeypatch.setattr(programs, "driver", lambda *_: Path("driver"))
    monkeypatch.setattr("commitpath.boards.payload.prepared_variables", lambda *_: {})
    monkeypatch.setattr(board_commands, "ensure_packages", lambda: None)
    monkeypatch.setattr(ansible, "board", lambda _: BOARD)
    with pytest.raises(LookupError, match="the second try"):
        call(make_cell({"ROWS": "0", "PROBES": "none"}))


def test_a_lock_goes_with_its_snapshot_unless_it_is_held(saved: Path) -> None:
    lock = saved.with_name(f"{saved.name}.lock")
    with artifacts.locked(saved):
        snapshot.remove(saved)
        assert lock.exists() and not saved.exists()
    snapshot.remove(saved)
    assert not lock.exists()


def test_who_waited_for_a_lock_that_was_removed_takes_the_new_one(saved: Path) -> None:
    lock, held = saved.with_name(f"{saved.name}.lock"), list[bool]()

    def wait() -> None:
        with artifacts.locked(saved), scratch.lock_file(lock) as other:
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # not before: an error in a thread does not fail the test
            held.append(True)

    with scratch.lock_file(lock) as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.3)
        lock.unlink()
    waiting.join()
    assert held and lock.exists()
