"""`make experiment`: one cell, from its variables to its report."""

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath import ansible
from commitpath.cell import ROOT, canonical, cell_id, cell_name
from commitpath.errors import LabError
from commitpath.payload import payload, prepared_variables, write_tar
from commitpath.prepared import ensure_snapshot, ensure_watched, prepare, virtual_board
from commitpath.progress import step
from images import artifacts, qemu, snapshot
from images.board import Login, RunOutput, SnapshotError

RESULTS = ROOT / "results"
# Wall seconds after which a run counts as hung.
RUN_LIMIT_SECONDS = 3600


def run_virtual(cell: Mapping[str, Any], driver: Path, entry: Mapping[str, Any]) -> RunOutput:
    """A run in virtual time: restore the prepared board, with the cell in it."""
    files = payload(cell, entry["board_device"])
    board = virtual_board(cell)
    for last_try in (False, True):
        folder = ensure_watched(cell, ensure_snapshot(cell, driver, entry), files, board)
        try:
            with step("run the cell"):
                return board.run_cell(folder, files, RUN_LIMIT_SECONDS)
        except SnapshotError as error:
            if last_try:
                raise
            print(f"the snapshot {folder.name} is made again: {error}", file=sys.stderr)
            snapshot.remove(folder)
    raise AssertionError("the loop returns or raises")


def run_over_ssh(
    cell: Mapping[str, Any], driver: Path, entry: Mapping[str, Any], login: Login | None
) -> RunOutput:
    """A run on a board that Ansible reaches: prepare, run, collect, and always tear down."""
    variables = {**prepared_variables(cell, driver, entry), **(login.ansible() if login else {})}
    log = artifacts.CACHE / "log"
    output, packed = log / f"out-{os.getpid()}.tar", log / f"payload-{os.getpid()}.tar"
    try:
        prepare(cell, None, variables)
        write_tar(packed, payload(cell, entry["board_device"]))
        begin = time.monotonic()
        with step("run the cell"):
            ansible.play(
                "run.yml", {**variables, "payload": str(packed), "output": str(output)}, log / "run.json"
            )
        return RunOutput(output.read_bytes(), 0.0, time.monotonic() - begin)
    finally:
        failed = sys.exc_info()[0] is not None
        output.unlink(missing_ok=True)
        packed.unlink(missing_ok=True)
        try:
            with step("tear down"):
                ansible.play("teardown.yml", variables, log / "teardown.json")
        except LabError as error:
            if not failed:
                raise
            # what failed first is what the user must hear
            print(f"commitpath: the board could not be torn down either: {error}", file=sys.stderr)


def host_facts() -> dict[str, Any]:
    """What produced a run, from the host's side."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "commitpath_commit": commit.stdout.strip() or "not a git checkout",
        "host_kernel": platform.release(),
        "host_python": platform.python_version(),
    }


def store(cell: Mapping[str, Any], output: RunOutput, wall: float, facts: Mapping[str, Any]) -> Path:
    """Write a run's folder: cell.json, host.json, raw/; it appears only when whole."""
    run_id = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{os.getpid()}"
    folder = RESULTS / cell_name(cell) / run_id
    part = folder.with_name(f".{run_id}.part")
    part.mkdir(parents=True)
    try:
        (part / "cell.json").write_text(canonical(cell) + "\n")
        host = {
            **facts,
            "cell_id": cell_id(cell),
            "run_id": run_id,
            "wall_seconds": round(wall, 3),
            "restore_seconds": round(output.restore_seconds, 3),
            "start_seconds": round(output.start_seconds, 3),
            "run_seconds": round(output.run_seconds, 3),
        }
        (part / "host.json").write_text(json.dumps(host, indent=2, sort_keys=True) + "\n")
        output.extract(part)
        (part / "raw/run-cell.log").write_text(output.text("run-cell.log"))
        (part / "raw/run-cell.status").write_text(output.text("run-cell.status"))
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    latest = RESULTS / "latest"
    temporary = RESULTS / f".latest-{os.getpid()}"
    temporary.symlink_to(folder.relative_to(RESULTS))
    temporary.replace(latest)
    return folder


def run_once(cell: Mapping[str, Any]) -> Path:
    """One run of a cell, stored; its folder."""
    begin = time.monotonic()
    entry = ansible.board(cell["board"])
    driver = artifacts.driver(cell["sqlite"], artifacts.image())
    facts = host_facts()
    if entry["board_kind"] == "virtual":
        facts["qemu"] = qemu.qemu_version()
    if cell["clock"] == "virtual":
        output = run_virtual(cell, driver, entry)
    elif entry["board_kind"] == "virtual":
        with virtual_board(cell).started("real") as (login, _, _):
            output = run_over_ssh(cell, driver, entry, login)
    else:
        with artifacts.locked(artifacts.CACHE / f"board-{cell['board']}"):
            output = run_over_ssh(cell, driver, entry, None)
    folder = store(cell, output, time.monotonic() - begin, facts)
    if output.text("run-cell.status").strip() != "0":
        log = output.text("run-cell.log").strip().splitlines()
        raise LabError(f"the run failed: {log[-1] if log else 'no output'} (kept in {folder})")
    return folder


def experiment(cell: Mapping[str, Any], repeat: int) -> int:
    """Run a cell `repeat` times and report; the exit code."""
    from analysis import repeats
    from analysis.__main__ import main as analyse

    code, folders = 0, []
    for number in range(repeat):
        if repeat > 1:
            print(f"run {number + 1} of {repeat}", file=sys.stderr)
        folders.append(run_once(cell))
        with step("check and analyse"):
            code = analyse([str(folders[-1])]) or code
    if repeat > 1:
        print(repeats.table(repeats.compare(folders)))
        print(f"report: {repeats.write(folders)}")
    return code
