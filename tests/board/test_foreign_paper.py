"""A paper's figure on a board that is not ours: its power is cut in between, and the next call goes on."""

import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path

import foreign_board
from foreign_board import ForeignBoard
from foreign_calls import FAILED, NOTHING, STEP_SECONDS, left

from base.paths import ROOT
from images.console import wait_until

# Two cells of the figure's eight, as small as can be.
CELLS = "sqlite=3.8.11.1 mode=truncate|wal journal_limit=-1"
ASKED = ["PAPER=apsys17", "FIGURE=fig1", f"WHERE={CELLS}", "N=20", "ROWS=100"]
RUNS = 4
# So few transactions are not many more than what a board that has just booted writes for itself.
BUSY = {"foreign_commands": 1, "foreign_sectors": 1, "others_pressure": 1}


def begin(results: Path, log: Path, *words: str) -> "subprocess.Popen[bytes]":
    """`make reproduce`, as a user calls it."""
    with log.open("wb") as output:
        return subprocess.Popen(
            ["make", "-s", "reproduce", *words],
            cwd=ROOT,
            env={**os.environ, "COMMITPATH_RESULTS": str(results)},
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )


def cut_in_the_second_run(board: ForeignBoard, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Cut the power once the third driver has begun: each run has a rehearsal and itself."""
    end, serial = time.monotonic() + 2 * STEP_SECONDS, board.machine.folder / "serial.log"
    while serial.read_bytes().count(b"run-cell: driver starts") < 3:
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.2)
    board.cut_power()


def test_a_figure_goes_on_after_a_reboot(tmp_path: Path) -> None:
    results, log = tmp_path / "results", tmp_path / "log"
    name = f"paper-{os.getpid()}"
    with foreign_board.board("virtio") as board, foreign_board.named(name, board.entry(board_limits=BUSY)):
        words = [*ASKED, f"BOARD={name}", "REPEAT=2"]
        process = begin(results, log, *words, "RETRIES=0")
        try:
            cut_in_the_second_run(board, process, log)
            assert process.wait(RUNS * STEP_SECONDS) == FAILED, log.read_text()
        finally:
            process.kill()
        said = log.read_text()
        print(said)
        assert f"{name}: {RUNS} runs of 2 cells, 0 of them stored; {RUNS} to make" in said
        # the run that broke off counts nothing; the board is waited for, if this host is not too busy to boot
        # it in that time, and the others are made
        stored = int(re.findall(rf"^{RUNS} runs: (.) ok \(0 of them from before\), . failed", said, re.M)[0])
        assert 1 <= stored < RUNS
        wait_until("SSH answers", STEP_SECONDS, board.process, board.machine, board.answers)
        assert left(board) == NOTHING
        # what is to stand beside it is made by the command that is told
        (told,) = re.findall(r"(make reproduce .*) makes them$", said, re.M)
        assert begin(results, log, *shlex.split(told)[2:]).wait(3 * STEP_SECONDS) == 0, log.read_text()
        assert begin(results, log, *words).wait(RUNS * STEP_SECONDS) == 0, log.read_text()
        assert left(board) == NOTHING
    said = log.read_text()
    print(said)
    to_make = f"{stored} of them stored; {RUNS - stored} to make, one after the other: about "
    assert f"{name}: {RUNS} runs of 2 cells, {to_make}" in said
    assert f"{RUNS} runs: {RUNS} ok ({stored} of them from before), 0 failed" in said
    assert "makes them" not in said
    (page,) = (results / "papers").glob(f"apsys17-{name}-*/claims.html")
    figure = json.loads((page.parent / "figures/fig1.json").read_text())
    bars = [bar for bar in figure["panels"][0]["bars"] if bar["state"] == "ok"]
    assert [bar["board"] for bar in bars] == [name, "virtual"] * 2
    for bar in bars[::2]:
        assert len(bar["runs"]) == 2 and bar["interval"][0] < bar["tps"] < bar["interval"][1]
    claims = {claim["id"]: claim for claim in json.loads((page.parent / "claims.json").read_text())["claims"]}
    assert claims["P-01"]["verdict"] == "not measured"
    assert claims["P-01"]["readings"][0]["unmeasured"] == "N=20, ROWS=100: fewer than the paper's"
    assert claims["P-01"]["readings"][0]["pairs"][0]["virtual_ratio"] is not None
    assert {claim["verdict"] for claim in claims.values()} <= {"not measured", "not testable here"}
    text = page.read_text()
    assert "Not all of the paper" in text and name in text
