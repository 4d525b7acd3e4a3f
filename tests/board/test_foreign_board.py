"""Runs on a board that is not ours, and what is left of them when something breaks."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import foreign_board
import lab_board
import pytest
from foreign_board import ForeignBoard
from foreign_calls import FAILED, LAB, LONG, NOTHING, STEP_SECONDS, behind, goes_on, left

from analysis.checks import disk
from analysis.run import Run
from base.errors import LabError
from base.paths import ROOT
from commitpath.boards.payload import MOUNTPOINT
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment


@pytest.fixture(scope="module")
def bench() -> Iterator[ForeignBoard]:
    """A board for all of them."""
    with foreign_board.board("virtio") as board:
        yield board


@contextmanager
def call(board: ForeignBoard, log: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """`make experiment`, as a user calls it, in a session of its own."""
    words = [f"{name}={value}" for name, value in {**LONG, "BOARD": board.name, **variables}.items()]
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["make", "-s", "experiment", *words],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_driver(board: ForeignBoard, process: "subprocess.Popen[bytes]", log: Path, since: int) -> None:
    """Wait until the second driver that begins since then is at work: the first is the rehearsal's."""
    end = time.monotonic() + STEP_SECONDS
    serial = board.machine.folder / "serial.log"
    while serial.read_bytes()[since:].count(b"run-cell: driver starts") < 2:
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.5)
    time.sleep(3)


def begun(board: ForeignBoard) -> int:
    """How much the board's console has said so far."""
    return (board.machine.folder / "serial.log").stat().st_size


def last(log: Path) -> str:
    """What a call says at its end, without this machine's paths."""
    lines = [line for line in log.read_text().splitlines() if line.startswith("commitpath: ")]
    return lines[-1].removeprefix("commitpath: ").partition(" (all of it:")[0]


def fails(board: ForeignBoard, log: Path) -> None:
    """A call fails, and leaves nothing."""
    with call(board, log) as process:
        assert process.wait(STEP_SECONDS) == FAILED, log.read_text()
    assert left(board) == NOTHING


WATCHED = {"PROBES": "all", "ROWS": "100", "N": "20"}


def watched(board: ForeignBoard, fs: str) -> Run:
    """A run that is watched while somebody writes and syncs on the root's partition, which must be good."""
    name = f"{board.name}-busy"
    entry = board.entry(board_limits=lab_board.BUSY)
    with foreign_board.named(name, entry), lab_board.neighbour(board.login, "/var/tmp/other"):
        folder = experiment.run_once(make_cell({**LAB, **WATCHED, "FS": fs, "BOARD": name}))
    run = lab_board.hold_partition(folder)
    lab_board.hold_neighbour(run)
    noted = json.loads((folder / "manifest.json").read_text())["board"]["covariates"]["board"]
    assert noted["kernel_config"].startswith("/boot/config-6.1")
    assert left(board) == NOTHING
    return run


@pytest.mark.parametrize("fs", ["ext4-ordered", "f2fs"])
def test_a_partition_is_watched(bench: ForeignBoard, fs: str) -> None:
    assert "+deb12" in bench.said("dpkg-query -W openssh-server systemd")
    sent = disk.sent_for(watched(bench, fs))
    assert sent and sent["own"].height and sent["others"].height, sent


def test_a_kernel_without_types_is_timed(bench: ForeignBoard) -> None:
    bench.said("mount -t tmpfs none /sys/kernel/btf")
    try:
        with pytest.raises(LabError, match=r"the kernel has no BTF .* PROBES=none times a cell"):
            experiment.run_once(make_cell({**LAB, **WATCHED, "BOARD": bench.name}))
        assert left(bench) == NOTHING
        goes_on(bench.name)
    finally:
        bench.said("umount /sys/kernel/btf")


def test_a_card_is_watched() -> None:
    with foreign_board.board("sd") as board:
        # QEMU's card has no cache
        sent = disk.sent_for(watched(board, "ext4-ordered"))
        assert sent and not any(rows.height for rows in sent.values()), sent


def test_the_link_is_lost(bench: ForeignBoard, tmp_path: Path) -> None:
    log, since = tmp_path / "log", begun(bench)
    with call(bench, log) as process:
        wait_driver(bench, process, log, since)
        bench.link(False)
        assert process.wait(STEP_SECONDS) == FAILED, log.read_text()
    bench.link(True)
    bench.wait_up()
    # it is held until its lease ends, whoever watches
    assert left(bench)[0] == "1"
    # the watcher looks anew when its sleep is over
    bench.said("sh /run/commitpath/lease.sh renew 20; pkill -x sleep")
    bench.link(False)
    time.sleep(60)
    bench.link(True)
    bench.wait_up()
    assert left(bench) == NOTHING
    goes_on(bench.name)


def test_the_host_is_killed(bench: ForeignBoard, tmp_path: Path) -> None:
    log, since = tmp_path / "log", begun(bench)
    with call(bench, log) as process:
        wait_driver(bench, process, log, since)
        os.killpg(process.pid, signal.SIGKILL)
    assert left(bench)[0] == "1"
    # the same cache's lock is free: its next call need not wait for the lease
    goes_on(bench.name)
    assert left(bench) == NOTHING


def test_the_power_is_cut(bench: ForeignBoard, tmp_path: Path) -> None:
    log, since = tmp_path / "log", begun(bench)
    with call(bench, log) as process:
        wait_driver(bench, process, log, since)
        bench.cut_power()
        assert process.wait(STEP_SECONDS) == FAILED, log.read_text()
    bench.wait_up()
    assert left(bench) == NOTHING
    goes_on(bench.name)


def test_the_partition_fills_up(bench: ForeignBoard, tmp_path: Path) -> None:
    log = tmp_path / "log"
    fill = f"until [ -s {MOUNTPOINT}/db/sample.db ]; do sleep 1; done; cat /dev/zero > {MOUNTPOINT}/fill"
    behind(bench, fill)
    fails(bench, log)
    assert "full" in last(log)
    goes_on(bench.name)


def test_run_is_full(bench: ForeignBoard, tmp_path: Path) -> None:
    # dd ends with an error: that nothing is left is what it is for
    bench.said("! dd if=/dev/zero of=/run/fill bs=64k status=none")
    try:
        fails(bench, tmp_path / "log")
    finally:
        bench.said("rm /run/fill")
    goes_on(bench.name)


def test_run_fills_up_meanwhile(bench: ForeignBoard, tmp_path: Path) -> None:
    log = tmp_path / "log"
    begun = "until [ -e /run/commitpath/run-cell.pid ]; do sleep 0.1; done"
    behind(bench, f"{begun}; dd if=/dev/zero of=/run/fill bs=64k")
    try:
        fails(bench, log)
    finally:
        bench.said("rm -f /run/fill")
    goes_on(bench.name)


def test_two_at_once_and_another_mount(bench: ForeignBoard, tmp_path: Path) -> None:
    """The second harness has another lock; then somebody mounts something over what is measured."""
    first, second, since = tmp_path / "first", tmp_path / "second", begun(bench)
    other = f"{bench.name}-too"
    with call(bench, first) as process, foreign_board.named(other, bench.entry()):
        wait_driver(bench, process, first, since)
        with call(bench, second, BOARD=other) as late:
            assert late.wait(STEP_SECONDS) == FAILED, second.read_text()
        assert "holds the board; its lease ends in" in last(second), second.read_text()
        os.killpg(process.pid, signal.SIGKILL)
    # whoever kills the watcher does not keep the board
    bench.said("pkill -KILL -f 'lease.sh [w]atch'; sleep 20")
    assert left(bench) == NOTHING


def test_something_else_is_mounted_there(bench: ForeignBoard, tmp_path: Path) -> None:
    log = tmp_path / "log"
    # the run's cell, sent once the board is prepared; the rehearsal's was there before
    there = f'grep -qs -e "--n {LONG["N"]}" /run/commitpath/cell.env'
    over = f"until {there}; do sleep 0.2; done; mount -t tmpfs over {MOUNTPOINT}"
    behind(bench, over)
    with call(bench, log) as process:
        assert process.wait(STEP_SECONDS) == FAILED, log.read_text()
    assert f"on {MOUNTPOINT} is the device 0:" in log.read_text(), log.read_text()
    bench.said(f"umount {MOUNTPOINT}")
    goes_on(bench.name)
