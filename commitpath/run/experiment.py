"""`make experiment`: one cell, from its variables to its report."""

import importlib
import json
import os
import platform
import random
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from analysis.run_files import stored_files
from base import identity, scratch
from base.errors import LabError
from base.paths import RESULTS, ROOT
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.payload import prepared_variables, write_self_extracting
from commitpath.boards.prepared import (
    again_if_damaged,
    ensure_snapshot,
    ensure_watched,
    known_sequence,
    prepare,
    provision,
    virtual_board,
)
from commitpath.cells.axes import run_axes
from commitpath.cells.identities import cell_id, cell_name, stored
from commitpath.host import ansible
from commitpath.run import compressed_files as packed
from commitpath.run import crash_trials, sampled_databases
from commitpath.run.plan import Plan, make
from images import artifacts, emulator, programs, qemu
from images.board import VirtualBoard
from images.cellrun import CellRun, RunOutput
from images.ssh import Login
from model.cell import Cell
from model.crash_points.policies import FOLDER

# How long one of two boards is waited for before the other is looked at.
END_POLL_SECONDS = 0.05


def default_limit() -> int:
    """Wall seconds after which a run counts as hung, where nobody says otherwise."""
    return int(run_axes()["limit"].spec["default"])


def run_virtual(
    cell: Cell, driver: Path, entry: Mapping[str, Any], planned: Plan, limit: float
) -> tuple[list[RunOutput], crash_trials.Trials]:
    """A run in virtual time and, if it is watched, its untraced twin beside it; then, if the cell has any,
    the boards of its trials.

    Each restores the prepared board, with its files in it; all are from the same bytes.
    """
    board, runs = virtual_board(cell), planned.runs
    if planned.trials is not None:
        programs.trials(cell, here=True)  # what sampled_databases.py needs, rather than when all is done

    def run() -> tuple[list[RunOutput], crash_trials.Trials]:
        prepared = ensure_snapshot(cell, driver, entry)
        folders = [ensure_watched(one.cell, prepared, one.files, board) for one in runs]
        with step("run the cell and its untraced twin" if len(runs) > 1 else "run the cell"):
            outputs = run_together(board, folders, [one.files for one in runs], limit)
        if planned.trials is None or outputs[-1].failed:
            return outputs, crash_trials.Trials()
        cuts = crash_trials.trials(cell, outputs[-1])
        with step(f"try {len(cuts)} cuts of the run"):
            return outputs, crash_trials.tried(board, prepared, planned.trials, cuts, limit)

    return again_if_damaged(run)


def run_together(
    board: VirtualBoard, folders: list[Path], files: list[dict[str, bytes]], limit: float
) -> list[RunOutput]:
    """Run payloads from snapshots, all at once: in virtual time none changes another's numbers."""
    with ExitStack() as stack:
        runs = [
            stack.enter_context(board.cell_started(folder, of_one, limit))
            for folder, of_one in zip(folders, files, strict=True)
        ]
        for run in runs:
            run.wait_start()
        return wait_ends(runs)


def wait_ends(runs: list[CellRun]) -> list[RunOutput]:
    """What each run sent. The first that dies ends the call, however long another goes on."""
    outputs: dict[int, RunOutput] = {}
    while len(outputs) < len(runs):
        # a CPU is free for a second's imports where no twin runs, or once one of the two has ended: the
        # twin, which has nothing to put away
        if outputs or len(runs) == 1:
            importlib.import_module("analysis.__main__")
        for number, run in enumerate(runs):
            if number not in outputs and run.over(END_POLL_SECONDS):
                outputs[number] = run.wait_end()
    return [outputs[number] for number in range(len(runs))]


def run_over_ssh(
    cell: Cell,
    driver: Path,
    entry: Mapping[str, Any],
    planned: Plan,
    login: Login | None,
    limit: float,
    order: Sequence[int],
) -> list[RunOutput]:
    """The runs of a plan on a board that Ansible reaches, one after the other: prepare, run, collect, and
    always tear down. order: which of them is the first, the second; they are returned as planned."""
    variables = {
        **prepared_variables(cell, driver, entry),
        **(login.ansible() if login else {}),
        "lease_seconds": round(limit) + lab_board.LEASE_MARGIN_SECONDS,
    }
    with lab_board.torn_down(variables):
        outputs: dict[int, RunOutput] = {}
        for number in order:
            one = planned.runs[number]
            # which first clears what the run before left
            lab_board.reached(entry, lambda: provision(variables, limit))
            prepare(variables, limit)
            with step("run the cell's untraced twin" if number else "run the cell"):
                output = run_sent(one.files, variables, limit)
            if one.cell.probes and entry["board_kind"] == "lab":
                with step("run a known sequence of writes and syncs"):
                    output.known = run_sent({**one.files, "run-cell.sh": known_sequence()}, variables, limit)
            outputs[number] = output
        return [outputs[number] for number in sorted(outputs)]


def run_sent(files: Mapping[str, bytes], variables: Mapping[str, Any], limit: float) -> RunOutput:
    """What a board that is prepared sends of a run with these files."""
    run_id = secrets.token_hex(8)
    with artifacts.work_folder() as work:
        output, packed = work / "out.tar", work / "payload.sh"
        write_self_extracting(packed, files)
        begin = time.monotonic()
        more = {"payload": str(packed), "output": str(output), "run_id": run_id}
        ansible.play("run.yml", {**variables, **more}, artifacts.CACHE / "log/run.json", limit=limit)
        sent = RunOutput(output.read_bytes(), run_seconds=time.monotonic() - begin)
    lab_board.check_end(sent, run_id)
    return sent


def host_facts() -> dict[str, Any]:
    """What produced a run, from the host's side."""
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        commit = subprocess.run(describe, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:  # an unpacked tarball, on a machine without git
        commit = ""
    return {
        "commitpath_commit": commit or "not a git checkout",
        "host_kernel": platform.release(),
        "host_python": platform.python_version(),
    }


def timed_seconds(outputs: list[RunOutput]) -> float | None:
    """Wall seconds from the first begin of a timed region to the last end; None if none was told."""
    timed = [time for output in outputs for time in output.timed]
    told = bool(timed) and all(len(output.timed) == 2 for output in outputs)
    return round(max(timed) - min(timed), 3) if told else None


def of_trials(trials: crash_trials.Trials) -> dict[str, Any]:
    """What host.json says of a run's trials; nothing without any."""
    if not trials.outputs and not trials.died:
        return {}
    return {
        "trials_seconds": round(trials.seconds, 3),
        "trials_died": {str(number): said for number, said in sorted(trials.died.items())},
    }


def store(
    cell: Cell,
    planned: Plan,
    outputs: list[RunOutput],
    trials: crash_trials.Trials,
    wall: float,
    facts: Mapping[str, Any],
) -> Path:
    """Write a run's folder: cell.json, host.json, raw/, twin/; it appears only when whole.

    outputs: the run's, then its untraced twin's, if it has one.
    """
    run_id = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{os.getpid()}"
    folder = RESULTS / cell_name(cell) / run_id
    with scratch.folder(folder.parent, f".{run_id}") as part:
        (part / identity.document(stored(cell))).write_text(identity.canonical(stored(cell)) + "\n")
        boards = [part / FOLDER / str(number) for number in range(1, len(trials.outputs) + 1)]
        looked = dict[str, Any]()
        every = [
            *zip(outputs, (part, part / "twin"), strict=False),
            *zip(trials.outputs, boards, strict=True),
        ]
        for output, place in every:
            output.extract(place)
            packed.rendered(place / "raw/driver")
            packed.observed(place / "raw")
            if place in boards:
                looked |= sampled_databases.of_samples(cell, place / "raw")
                packed.sampled(place / "raw")
            if output.known and not output.known.failed:
                place_known(output.known, place / "raw")
            (place / "raw/run-cell.log").write_text(output.text("run-cell.log"))
            (place / "raw/run-cell.status").write_text(output.text("run-cell.status"))
        (part / "raw/plan.json").write_text(json.dumps(planned.document, indent=2, sort_keys=True) + "\n")
        host = {
            **facts,
            "cell_id": cell_id(cell),
            "run_id": run_id,
            "wall_seconds": round(wall, 3),
            "restore_seconds": round(outputs[0].restore_seconds, 3),
            "start_seconds": round(outputs[0].start_seconds, 3),
            "run_seconds": round(outputs[0].run_seconds, 3),
            "timed_seconds": timed_seconds(outputs),
            **of_trials(trials),
            **({"trials_looks": looked} if looked else {}),
            "raw_sha256": stored_files.hashes(part),
        }
        (part / "host.json").write_text(json.dumps(host, indent=2, sort_keys=True) + "\n")
        scratch.keep(part, folder)
    latest = RESULTS / "latest"
    temporary = scratch.file(latest)
    temporary.symlink_to(folder.relative_to(RESULTS))
    temporary.replace(latest)
    return folder


def place_known(sent: RunOutput, raw: Path) -> None:
    """Put what a known sequence is compared by into a run's raw/known/."""
    with artifacts.work_folder() as work:
        sent.extract(work)
        for name in ("known", "board"):
            shutil.copytree(work / "raw" / name, raw / "known" / name)
        shutil.copy(work / "raw/probes.bin", raw / "known")


def drawn_order(runs: int, seed: int, turn: int) -> list[int]:
    """In which order a board runs a cell and its twin, one after the other, in a call's turn (1, 2, …).

    Of two turns that follow each other either has one of them first; which, the seed says.
    """
    twin_first = random.Random(f"{seed}-{(turn - 1) // 2}").random() < 0.5
    order = list(range(runs))
    return order[::-1] if twin_first != (turn % 2 == 0) else order


def run_once(
    cell: Cell, limit: float | None = None, repeat: int | None = None, turn: int | None = None
) -> Path:
    """One run of a cell, stored; its folder.

    limit: wall seconds after which it counts as hung. repeat: which of a sweep's runs of the cell it is;
    turn: which of a call's.
    """
    begin, limit = time.monotonic(), limit or default_limit()
    entry = ansible.board(cell.board)
    driver = programs.driver(cell) if cell.load == identity.DRIVER else programs.command()
    planned, facts = make(cell, entry), {**host_facts(), "program": driver.name}
    if repeat is not None:
        facts["repeat"] = repeat
    # a command has no seed
    seed = int(cell.seed)
    order = drawn_order(len(planned.runs), seed, turn or repeat or 1)
    if len(order) > 1 and entry["board_kind"] == "lab":
        facts["order"] = {"runs": [("run", "twin")[number] for number in order], "seed": seed}
    if entry["board_kind"] == "virtual":
        facts["qemu"] = qemu.qemu_version(qemu.QEMU if cell.clock == "kvm" else emulator.chosen())
    trials = crash_trials.Trials()
    if cell.clock == "virtual":
        outputs, trials = run_virtual(cell, driver, entry, planned, limit)
    elif entry["board_kind"] == "virtual":
        with virtual_board(cell).started(cell.clock) as (login, _, _):
            outputs = run_over_ssh(cell, driver, entry, planned, login, limit, order)
    else:
        with lab_board.held(cell.board, entry):
            outputs = run_over_ssh(cell, driver, entry, planned, None, limit, order)
    folder = store(cell, planned, outputs, trials, time.monotonic() - begin, facts)
    ran = [*zip(outputs, ("run", "untraced twin"), strict=False), (outputs[0].known, "known sequence")]
    for output, what in [*ran, *((one, "board of trials") for one in trials.outputs)]:
        if output and output.failed:
            raise LabError(f"the {what} failed: {last_words(output)} (kept in {folder})")
    return folder


def last_words(output: RunOutput) -> str:
    """What a run that failed said last: the driver, if it did, or who ran it."""
    said = output.tail("raw/driver/driver.err") or output.tail("run-cell.log")
    return said or "no output"


def experiment(cell: Cell, repeat: int, limit: float) -> int:
    """Run a cell `repeat` times and report; the exit code. limit: wall seconds of a run."""
    code, folders = 0, []
    for number in range(repeat):
        if repeat > 1:
            print(f"run {number + 1} of {repeat}", file=sys.stderr)
        folders.append(run_once(cell, limit, turn=number + 1))
        with step("check and analyse"):
            from analysis.__main__ import main as analyse

            code = analyse([str(folders[-1])]) or code
    if repeat > 1:
        from analysis.stats import repeats

        analysed = [folder for folder in folders if (folder / "summary.json").is_file()]
        for folder in folders:
            if folder not in analysed:
                print(f"not compared, as it could not be analysed: {folder}", file=sys.stderr)
        if analysed:
            print(repeats.table(repeats.compare(analysed)))
            print(f"report: {repeats.write(analysed)}")
    return code
