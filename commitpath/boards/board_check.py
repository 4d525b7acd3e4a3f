"""`make board-check`: provision a lab board; print features, lacks, write times; CHECK=1: preview a run."""

import json
import statistics
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base.errors import BadInputError, LabError
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.payload import (
    PREPARE_SCRIPTS,
    RUN_SCRIPTS,
    board_scripts,
    load_script,
    prepared_variables,
    write_self_extracting,
)
from commitpath.boards.prepared import provision
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from commitpath.host.packages import ensure_packages
from images import artifacts
from model.cell import Cell
from model.covariates import Covariates, limited, shares

# Wall seconds of a step, and of the board's lease.
LIMIT_SECONDS = 600.0
WIDTH = 100
KINDS = {"fsync_us": "write 4 KiB and fsync", "write_us": "write 4 KiB past the page cache"}


def board_check(variables: dict[str, str]) -> int:
    """Provision a lab board, inspect and measure it, tear down; return 1 if it lacks what runs need."""
    name = variables.get("BOARD", "")
    labs = [board for board, entry in ansible.inventory().items() if entry.get("board_kind") == "lab"]
    if not name or name == "virtual":
        raise BadInputError(
            f"make board-check takes BOARD=<a lab board>; playbooks/inventory has {', '.join(labs) or 'none'}"
        )
    entry = ansible.board(name)
    if entry["board_kind"] != "lab":
        raise BadInputError(f"BOARD={name}: a virtual board has no noise; board-check is for lab boards")
    chosen = {"FS": variables.get("FS", str(axes()["fs"].spec["default"])), "BOARD": name}
    cell = make_cell({**chosen, "CLOCK": "real", "DEVICE": "own", "PROBES": "none", "ROWS": "0"})
    ensure_packages(virtual=False)
    with lab_board.held(name, entry):
        if variables.get("CHECK") == "1":
            print("\n".join(preview(cell, entry)))
            return 0
        look, noise = measure(cell, entry)
    print("\n".join(report(name, cell.fs, look, noise, ansible.limits(name, entry))))
    return 1 if "refused" in noise else 0


def preview(cell: Cell, entry: Mapping[str, Any]) -> list[str]:
    """Return what a run would do to a board, a line each, without doing it."""
    variables = playbook_variables(cell, entry)
    lines: list[str] = []
    lab_board.reached(entry, lambda: lines.extend(provision(variables, LIMIT_SECONDS, *ansible.CHECK)))
    files = {**board_scripts((*RUN_SCRIPTS, *PREPARE_SCRIPTS)), "load.sh": load_script(cell.load)}
    with artifacts.work_folder() as work:
        write_self_extracting(work / "files", files)
        more = {**variables, "files": str(work / "files")}
        log = artifacts.CACHE / "log/prepare.json"
        lines += ansible.play("prepare.yml", more, log, *ansible.CHECK, limit=LIMIT_SECONDS)
    last = "would put the driver there, populate a database with it, run the cell, and tear all down"
    return [*dict.fromkeys(lines), last]


def playbook_variables(cell: Cell, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of the playbooks; no driver runs."""
    lease = round(LIMIT_SECONDS) + lab_board.LEASE_MARGIN_SECONDS
    return {**prepared_variables(cell, Path("no-driver"), entry), "lease_seconds": lease}


def measure(cell: Cell, entry: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return lines about the board, and noise.py's object, which may have the reason for no measurement."""
    variables = playbook_variables(cell, entry)
    with artifacts.work_folder() as work, lab_board.torn_down(variables):
        lab_board.reached(entry, lambda: provision(variables, LIMIT_SECONDS))
        output = work / "output.json"
        with step("look at the board, and measure its noise"):
            log = artifacts.CACHE / "log/board-check.json"
            more = {**variables, "output": str(output)}
            ansible.play("board-check.yml", more, log, limit=LIMIT_SECONDS)
        sent = json.loads(output.read_text())
    try:
        return sent["look"], json.loads(sent["noise"])
    except ValueError as error:
        raise LabError(f"board-check: the measurements are not JSON: {sent['noise'][:200]!r}") from error


def report(
    name: str, fs: str, look: Sequence[str], noise: Mapping[str, Any], limits: Mapping[str, float]
) -> list[str]:
    """Return the lines about a board: its features, its partition, its noise."""
    pairs = [line.partition(": ") for line in look]
    if "refused" in noise:
        pairs.append(("noise", ": ", f"not measured: {noise['refused']}"))
    wide = max(len(head) for head, _, _ in pairs)
    lines = [f"{name}: " + ("no run can be made" if "refused" in noise else f"runs can be made, FS={fs}")]
    for head, _, text in pairs:
        lines += textwrap.wrap(
            f"  {head:<{wide}}  {text}", WIDTH, subsequent_indent=" " * (wide + 4), break_on_hyphens=False
        )
    if "refused" in noise:
        return lines
    readings = Covariates(noise["begin"], noise["end"], noise["board"])
    return [*lines, "", *table(noise), "", *state(readings, limits)]


def table(noise: Mapping[str, Any]) -> list[str]:
    """Return the times of both KINDS, in a file on the partition's filesystem."""
    lines = [
        f"  {'ms, of ' + str(len(noise['fsync_us'])) + ' each':<34}    median     least      most   spread"
    ]
    for kind, words in KINDS.items():
        times = sorted(us / 1000 for us in noise[kind])
        quarters = statistics.quantiles(times, n=4)
        spread = (quarters[2] - quarters[0]) / quarters[1]
        lines.append(f"  {words:<34}{quarters[1]:>10.3f}{times[0]:>10.3f}{times[-1]:>10.3f}{spread:>9.1%}")
    return [*lines, "  (spread: between the quartiles, of the median)"]


def state(readings: Covariates, limits: Mapping[str, float]) -> list[str]:
    """Return the readings for which a run would be rejected, and those that failed."""
    lines = []
    for limit, share in shares(readings).items():
        allowed = f"{limits[limit]:g} allowed"
        lines.append(f"  {limit:<20}{'unreadable' if share is None else f'{share:.4g}':>12}   {allowed}")
    shown = ("cpufreq/", "throttle/", "temperature/")
    lines += [f"  {name}: {value}" for name, value in readings.end.items() if name.startswith(shown)]
    lines += [f"  {name}: {value}" for name, value in readings.board.items() if isinstance(value, str)]
    lines += [f"  unreadable: {name} ({why})" for name, why in readings.unreadable().items()]
    lines += [f"  a run would be rejected: {reason}" for reason in limited(readings, limits)]
    return [line for long in lines for line in textwrap.wrap(long, WIDTH, subsequent_indent="      ")]
