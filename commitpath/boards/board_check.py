"""`make board-check BOARD=…`: what a lab board can do, and what its noise is."""

import json
import statistics
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.adapters.covariates import Covariates
from analysis.checks.covariates import limited, shares
from base.errors import BadInputError, LabError
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.payload import (
    PREPARE_SCRIPTS,
    load_script,
    prepared_variables,
    run_scripts,
    write_self_extracting,
)
from commitpath.boards.prepared import provision
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from commitpath.host.packages import ensure_packages
from images import artifacts
from model.cell import Cell

# Wall seconds of a step, and of the board's lease.
LIMIT_SECONDS = 600.0
WIDTH = 100
KINDS = {"fsync_us": "write 4 KiB and fsync", "write_us": "write 4 KiB past the page cache"}


def board_check(variables: dict[str, str]) -> int:
    """Provision a lab board, look, measure, tear down, and print it; 1 where it lacks what runs need."""
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
        said = ask(cell, entry)
    print("\n".join(report(name, cell.fs, said["look"], said["noise"], ansible.limits(name, entry))))
    return 1 if "refused" in said["noise"] else 0


def preview(cell: Cell, entry: Mapping[str, Any]) -> list[str]:
    """What a run would do to a board, a line each; nothing is done."""
    variables = told(cell, entry)
    found: list[str] = []
    lab_board.reached(entry, lambda: found.extend(provision(variables, LIMIT_SECONDS, *ansible.CHECK)))
    files = {**run_scripts(), "load.sh": load_script(variables["load_script"])}
    files |= {name: (ansible.PLAYBOOKS / "board" / name).read_bytes() for name in PREPARE_SCRIPTS}
    with artifacts.work_folder() as work:
        write_self_extracting(work / "files", files)
        more = {**variables, "files": str(work / "files")}
        log = artifacts.CACHE / "log/prepare.json"
        found += ansible.play("prepare.yml", more, log, *ansible.CHECK, limit=LIMIT_SECONDS)
    found = list(dict.fromkeys(found))
    return [
        *found,
        "would put the driver there, populate a database with it, run the cell, and tear all down",
    ]


def told(cell: Cell, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the playbooks are told; no driver runs."""
    lease = round(LIMIT_SECONDS) + lab_board.LEASE_MARGIN_SECONDS
    return {**prepared_variables(cell, Path("no-driver"), entry), "lease_seconds": lease}


def ask(cell: Cell, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the board said: `look`, a line each; `noise`, noise.py's object or why there is none."""
    variables = told(cell, entry)
    with artifacts.work_folder() as work, lab_board.torn_down(variables):
        lab_board.reached(entry, lambda: provision(variables, LIMIT_SECONDS))
        output = work / "said.json"
        with step("look at the board, and measure its noise"):
            log = artifacts.CACHE / "log/board-check.json"
            more = {**variables, "output": str(output)}
            ansible.play("board-check.yml", more, log, limit=LIMIT_SECONDS)
        said = json.loads(output.read_text())
    try:
        return {"look": said["look"], "noise": json.loads(said["noise"])}
    except ValueError as error:
        raise LabError(f"board-check: what the board measured is no JSON: {said['noise'][:200]!r}") from error


def report(
    name: str, fs: str, look: Sequence[str], noise: Mapping[str, Any], limits: Mapping[str, float]
) -> list[str]:
    """The text of a board: what it can do, its partition, its noise."""
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
    found = Covariates(noise["begin"], noise["end"], noise["board"])
    return [*lines, "", *table(noise), "", *state(found, limits)]


def table(noise: Mapping[str, Any]) -> list[str]:
    """How long each of both kinds took, in a file of the partition's filesystem."""
    lines = [
        f"  {'ms, of ' + str(len(noise['fsync_us'])) + ' each':<34}    median     least      most   spread"
    ]
    for kind, what in KINDS.items():
        took = sorted(one / 1000 for one in noise[kind])
        quarters = statistics.quantiles(took, n=4)
        spread = (quarters[2] - quarters[0]) / quarters[1]
        lines.append(f"  {what:<34}{quarters[1]:>10.3f}{took[0]:>10.3f}{took[-1]:>10.3f}{spread:>9.1%}")
    return [*lines, "  (spread: between the quartiles, of the median)"]


def state(found: Covariates, limits: Mapping[str, float]) -> list[str]:
    """What of its state a run would be rejected for, and what could not be read."""
    lines = []
    for limit, had in shares(found).items():
        allowed = f"{limits[limit]:g} allowed"
        lines.append(f"  {limit:<20}{'unreadable' if had is None else f'{had:.4g}':>12}   {allowed}")
    shown = ("cpufreq/", "throttle/", "temperature/")
    lines += [f"  {name}: {value}" for name, value in found.end.items() if name.startswith(shown)]
    lines += [f"  {name}: {value}" for name, value in found.board.items() if isinstance(value, str)]
    lines += [f"  unreadable: {name} ({why})" for name, why in found.unreadable().items()]
    lines += [f"  a run would be rejected: {reason}" for reason in limited(found, limits)]
    return [line for long in lines for line in textwrap.wrap(long, WIDTH, subsequent_indent="      ")]
