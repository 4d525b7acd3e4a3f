"""Run a cell, its baseline run and crash trials on a virtual or lab board; store the run's folder."""

import json
import os
import platform
import random
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from base import identity, raw_files, scratch
from base.errors import LabError
from base.paths import RESULTS, ROOT
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.first_board import program
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
from commitpath.run import compressed_files, crash_trials, sampled_databases
from commitpath.run.plan import Plan, make
from images import artifacts, emulator, programs, qemu
from images.board import VirtualBoard
from images.cellrun import RunOutput
from images.ssh import Login
from model.cell import Cell
from model.crash_points.policies import FOLDER
from model.expected_state import sampled

# Wait for one of two boards before the other is checked.
END_POLL_SECONDS = 0.05


def nothing() -> None:
    """Do nothing while a board runs."""


def default_limit() -> int:
    """Return the default wall seconds after which a run counts as hung."""
    return int(run_axes()["limit"].spec["default"])


def run_virtual(
    cell: Cell,
    driver: Path,
    entry: Mapping[str, Any],
    planned: Plan,
    limit: float,
    meanwhile: Callable[[], object] = nothing,
) -> tuple[list[RunOutput], crash_trials.Trials]:
    """Run a cell in virtual time, with its baseline run if it is watched; then its crash trials, if any.

    All boards are restored from the same bytes. meanwhile: see `run_together`.
    """
    board, runs = virtual_board(cell), planned.runs
    if planned.trials is not None and sampled.numbers(cell, cell.cuts):
        programs.trials(cell, here=True)  # built now, as sampled_databases.py needs it only at the end

    def run() -> tuple[list[RunOutput], crash_trials.Trials]:
        prepared = ensure_snapshot(cell, driver, entry)
        folders = [ensure_watched(one.cell, prepared, one.files, board) for one in runs]
        with step("run the cell and its baseline" if len(runs) > 1 else "run the cell"):
            outputs = run_together(board, folders, [one.files for one in runs], limit, meanwhile)
        if planned.trials is None or outputs[-1].failed:
            return outputs, crash_trials.Trials()
        cuts = crash_trials.trials(cell, outputs[-1])
        with step(f"try {len(cuts)} cuts of the run"):
            return outputs, crash_trials.tried(board, prepared, planned.trials, cuts, limit)

    return again_if_damaged(run)


def run_together(
    board: VirtualBoard,
    folders: list[Path],
    files: list[dict[str, bytes]],
    limit: float,
    meanwhile: Callable[[], object] = nothing,
) -> list[RunOutput]:
    """Run payloads from snapshots at once: in virtual time none changes another's numbers.

    The first board that dies ends the call, without waiting for the others. meanwhile: is called while a CPU
    is free, without a twin, or when one of the two has ended.
    """
    outputs: dict[int, RunOutput] = {}
    with ExitStack() as stack:
        runs = [
            stack.enter_context(board.cell_started(folder, payload, limit))
            for folder, payload in zip(folders, files, strict=True)
        ]
        for run in runs:
            run.wait_start()
        while len(outputs) < len(runs):
            if outputs or len(runs) == 1:
                meanwhile()
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
    """Do the runs of a plan over SSH, one after the other: prepare, run, collect; always tear down.

    order: indices of the runs in their order in time. Returns them as planned.
    """
    variables = {
        **prepared_variables(cell, driver, entry),
        **(login.ansible() if login else {}),
        "lease_seconds": round(limit) + lab_board.LEASE_MARGIN_SECONDS,
    }
    with lab_board.torn_down(variables):
        outputs: dict[int, RunOutput] = {}
        for number in order:
            planned_run = planned.runs[number]
            # clears the previous run's leftovers first
            lab_board.reached(entry, lambda: provision(variables, limit))
            prepare(variables, limit)
            with step("run the cell's baseline" if number else "run the cell"):
                output = run_files(planned_run.files, variables, limit)
            if planned_run.cell.probes and entry["board_kind"] == "lab":
                with step("run a known sequence of writes and syncs"):
                    files = {**planned_run.files, "run-cell.sh": known_sequence()}
                    output.known = run_files(files, variables, limit)
            outputs[number] = output
        return [outputs[number] for number in sorted(outputs)]


def run_files(files: Mapping[str, bytes], variables: Mapping[str, Any], limit: float) -> RunOutput:
    """Run these files on a prepared board, and return its output."""
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
    """Return facts of the host for host.json."""
    # a checkout of another user's is read, too, and a hook of another repository sets GIT_DIR
    git = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT)]
    given = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    describe = [*git, "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(describe, env=given, capture_output=True, text=True, check=False)
        commit = done.stdout.strip()
    except FileNotFoundError:  # an unpacked tarball, on a machine without git
        commit = ""
    return {
        "commitpath_commit": commit or "not a git checkout",
        "host_kernel": platform.release(),
        "host_python": platform.python_version(),
    }


def timed_seconds(outputs: list[RunOutput]) -> float | None:
    """Return the wall seconds from the first begin to the last end of a timed region; None if incomplete."""
    if not outputs or any(len(output.timed) != 2 for output in outputs):
        return None
    times = [time for output in outputs for time in output.timed]
    return round(max(times) - min(times), 3)


def new_id() -> str:
    """Return a run's id: the second, and a drawn number, as each container has a process 1."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{secrets.randbelow(10**7)}"


def store(
    cell: Cell,
    planned: Plan,
    outputs: list[RunOutput],
    trials: crash_trials.Trials,
    wall: float,
    facts: Mapping[str, Any],
) -> Path:
    """Write a run's folder: cell.json, host.json, raw/, twin/; it appears only when whole.

    outputs: the run's, then its baseline run's, if it has one.
    """
    run_id = new_id()
    folder = RESULTS / cell_name(cell) / run_id
    with scratch.folder(folder.parent, f".{run_id}") as part:
        (part / identity.document(stored(cell))).write_text(identity.canonical(stored(cell)) + "\n")
        boards = [part / FOLDER / str(number) for number in range(1, len(trials.outputs) + 1)]
        looks = dict[str, Any]()
        every = [
            *zip(outputs, (part, part / "twin"), strict=False),
            *zip(trials.outputs, boards, strict=True),
        ]
        for output, place in every:
            output.extract(place)
            compressed_files.compress_rendered(place / "raw/driver")
            compressed_files.compress_observed(place / "raw")
            if place in boards:
                looks |= sampled_databases.inspect(cell, place / "raw")
                compressed_files.compress_sampled(place / "raw")
            if output.known and not output.known.failed:
                store_known_sequence(output.known, place / "raw")
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
            "raw_sha256": raw_files.hashes(part),
        }
        if outputs[0].snapshot:
            host["snapshots"] = [output.snapshot for output in outputs]
        if trials.outputs or trials.died:
            host["trials_seconds"] = round(trials.seconds, 3)
            host["trials_died"] = {str(number): last for number, last in sorted(trials.died.items())}
        if looks:
            host["trials_looks"] = looks
        (part / "host.json").write_text(json.dumps(host, indent=2, sort_keys=True) + "\n")
        scratch.keep(part, folder)
    latest = RESULTS / "latest"
    temporary = scratch.file(latest)
    temporary.symlink_to(folder.relative_to(RESULTS))
    temporary.replace(latest)
    return folder


def store_known_sequence(sent: RunOutput, raw: Path) -> None:
    """Store the records of a known sequence in a run's raw/known/."""
    with artifacts.work_folder() as work:
        sent.extract(work)
        for name in ("known", "board"):
            shutil.copytree(work / "raw" / name, raw / "known" / name)
        shutil.copy(work / "raw/probes.bin", raw / "known")


def drawn_order(runs: int, seed: int, turn: int) -> list[int]:
    """Return the order of a cell's run (0) and its twin (1) on a board, in a call's turn (1, 2, …).

    It is drawn for the odd turns, and reversed in the even ones.
    """
    twin_first = random.Random(f"{seed}-{(turn - 1) // 2}").random() < 0.5
    order = list(range(runs))
    return order[::-1] if twin_first != (turn % 2 == 0) else order


def run_once(
    cell: Cell,
    limit: float | None = None,
    repeat: int | None = None,
    turn: int | None = None,
    meanwhile: Callable[[], object] = nothing,
) -> Path:
    """Run a cell once and return the stored run's folder.

    limit: wall seconds after which it counts as hung. repeat: its number among a sweep's runs of the cell;
    turn: its number in a call. meanwhile: is called while virtual boards run and a CPU is free.
    """
    begin, limit = time.monotonic(), limit or default_limit()
    entry = ansible.board(cell.board)
    driver = program(cell)
    planned, facts = make(cell, entry), {**host_facts(), "program": driver.name}
    if repeat is not None:
        facts["repeat"] = repeat
    seed = int(cell.seed)
    order = drawn_order(len(planned.runs), seed, turn or repeat or 1)
    if len(order) > 1 and entry["board_kind"] == "lab":
        facts["order"] = {"runs": [("run", "twin")[number] for number in order], "seed": seed}
    if entry["board_kind"] == "virtual":
        facts["qemu"] = qemu.qemu_version(qemu.QEMU if cell.clock == "kvm" else emulator.chosen())
    trials = crash_trials.Trials()
    if cell.clock == "virtual":
        outputs, trials = run_virtual(cell, driver, entry, planned, limit, meanwhile)
    elif entry["board_kind"] == "virtual":
        with virtual_board(cell).started(cell.clock) as (login, _, _):
            outputs = run_over_ssh(cell, driver, entry, planned, login, limit, order)
    else:
        with lab_board.held(cell.board, entry):
            outputs = run_over_ssh(cell, driver, entry, planned, None, limit, order)
    folder = store(cell, planned, outputs, trials, time.monotonic() - begin, facts)
    ran = [*zip(outputs, ("run", "baseline run"), strict=False), (outputs[0].known, "known sequence")]
    for output, title in [*ran, *((trial, "board of trials") for trial in trials.outputs)]:
        if output and output.failed:
            raise LabError(f"the {title} failed: {last_words(output)} (kept in {folder})")
    return folder


def last_words(output: RunOutput) -> str:
    """Return the end of a failed run's messages: the driver's, or the script's."""
    return output.tail("raw/driver/driver.err") or output.tail("run-cell.log") or "no output"
