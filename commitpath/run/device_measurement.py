"""Measure a board's device for `make profile`: send lists of commands, and record the time of each."""

import gzip
from collections.abc import Callable, Mapping
from typing import Any

from base import strict_json
from base.errors import BadInputError, LabError
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.payload import board_scripts, payload, prepared_variables
from commitpath.boards.prepared import again_if_damaged, ensure_snapshot, prepare, provision, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.fitting.experiment_lists import MIB, SPAN, Facts
from commitpath.fitting.measurement import Measurement, planned, recorded
from commitpath.host import ansible
from commitpath.host.packages import ensure_packages
from commitpath.run.experiment import run_files
from images import programs
from images.cellrun import RunOutput
from model import covariates
from model.cell import Cell

# Wall seconds of a step, and of the board's lease.
LIMIT_SECONDS = 1800.0
SCRIPT = "profile-cell.sh"
Send = Callable[[Mapping[str, bytes]], RunOutput]


def measure(board: str, device: str, entry: Mapping[str, Any], host_ns: int) -> Measurement:
    """Measure the device of a board; on a virtual board the device of a profile."""
    virtual = entry["board_kind"] == "virtual"
    of_board = {"DEVICE": device} if virtual else {"DEVICE": "own", "CLOCK": "real"}
    cell = make_cell({**of_board, "BOARD": board, "PROBES": "none", "ROWS": "0"})
    ensure_packages(virtual=virtual)
    files = {**payload(cell), "run-cell.sh": board_scripts([SCRIPT])[SCRIPT]}
    if virtual:
        return again_if_damaged(lambda: by_restore(cell, entry, files, host_ns))
    with lab_board.held(board, entry):
        return over_ssh(cell, entry, files, host_ns)


def by_restore(cell: Cell, entry: Mapping[str, Any], files: Mapping[str, bytes], host_ns: int) -> Measurement:
    """Measure in virtual time, on a restored board."""
    saved = ensure_snapshot(cell, programs.driver(cell), entry)

    def send(more: Mapping[str, bytes]) -> RunOutput:
        return virtual_board(cell).run_cell(saved, {**files, **more}, LIMIT_SECONDS)

    return measured(send, host_ns, static=False)


def over_ssh(cell: Cell, entry: Mapping[str, Any], files: Mapping[str, bytes], host_ns: int) -> Measurement:
    """Measure a lab board; its partition is verified and formatted first, as for a run."""
    variables = {
        **prepared_variables(cell, programs.driver(cell), entry),
        "lease_seconds": round(LIMIT_SECONDS) + lab_board.LEASE_MARGIN_SECONDS,
    }

    def send(more: Mapping[str, bytes]) -> RunOutput:
        return run_files({**files, **more}, variables, LIMIT_SECONDS)

    with lab_board.torn_down(variables):
        lab_board.reached(entry, lambda: provision(variables, LIMIT_SECONDS))
        prepare(variables, LIMIT_SECONDS)
        return measured(send, host_ns, static=True, limits=ansible.limits(cell.board, entry))


def measured(
    send: Send, host_ns: int, static: bool, limits: Mapping[str, float] | None = None
) -> Measurement:
    """Send the commands that a device has, and return their times."""
    with step("look at the device"):
        facts = facts_of(answered(send({})).text("raw/facts"), host_ns)
    _, rows = planned(facts)
    commands = "".join(f"{row.op} {row.offset} {row.size} {row.idle_ns}\n" for row in rows)
    sent = {
        "commands.gz": gzip.compress(commands.encode(), mtime=0),
        "bin/latencies": programs.latencies(static).read_bytes(),
    }
    with step(f"measure the device with {len(rows)} commands"):
        output = answered(send(sent))
    if limits is not None:
        check_conditions(output, limits)
    times = [line.split() for line in output.text("raw/latencies.txt").splitlines()]
    return recorded(facts, [int(begin) for begin, _ in times], [int(latency) for _, latency in times])


def answered(output: RunOutput) -> RunOutput:
    """Return a board's output; LabError if the script failed."""
    if output.failed:
        raise LabError(f"the device could not be measured: {output.tail('run-cell.log')}")
    return output


def facts_of(text: str, host_ns: int) -> Facts:
    """Return what the kernel reports of a device; BadInputError if it cannot be measured."""
    values = dict(line.split("=", 1) for line in text.splitlines())
    size = int(values["size_bytes"])
    if size < SPAN:
        raise BadInputError(f"the device has {size // MIB} MiB, at least {SPAN // MIB} MiB are needed")
    return Facts(
        size,
        int(values["logical_block_size"]),
        values["write_cache"] == "write back",
        values["fua"] == "1",
        values["discard_max_bytes"] != "0",
        host_ns,
    )


def check_conditions(output: RunOutput, limits: Mapping[str, float]) -> None:
    """Refuse a measurement of a board that changed, throttled, ran hot, or shared its disk."""
    try:
        text = output.text("raw/board/covariates.json")
    except KeyError:
        raise LabError("the measurement does not count: the board's conditions were not recorded") from None
    try:
        readings = covariates.parse(strict_json.parse(text))
    except strict_json.UnfitError as error:
        raise LabError(f"the measurement does not count: covariates.json: {error}") from None
    if reasons := [*covariates.changed(readings), *covariates.limited(readings, limits)]:
        raise LabError(f"the measurement does not count: {'; '.join(reasons)}")
