"""Check that the baseline run, without observers, repeated the watched run: statements, settings, times."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from analysis import observers
from analysis.adapters.board import Board
from analysis.checks import counts, loss, persistent, phases, settings, virtual_board, workload_replay
from analysis.recorded import Twin
from analysis.run import Run
from base.arrays import Intervals, ints, length_within, union
from model import engines

Check = Callable[[Run], list[str]]

# A device that format_device.py mounts through an open file. Its process differs in the baseline run.
_OPEN = re.compile(r"^/proc/[0-9]+/fd/[0-9]+$")
# Entries of driver/config.json that must be equal: the load, the engine and its effective settings.
_SAME = ("driver", "engine", "requested", "effective", "sql_sha256", "rows_before", "rows_after")

# Timer-driven work, such as a journal commit every 5 s, comes elsewhere in the baseline run. It took at most
# 1.1 % of a phase; a run on another device or clock differs by more.
_SHARE = 0.05
# In a short run, a kernel tick and what it wakes also counts, in each phase.
_TICK_INSTRUCTIONS = 500_000

# Checks of a run that the baseline run is held to: of any run, of the driver, of a command.
OF_ANY: tuple[Check, ...] = (
    *(settings.equal, loss.steps_succeeded, loss.observers_watched, loss.kernel_quiet),
    *(virtual_board.has_one_cpu, loss.device_lost_nothing, counts.device_idle, counts.agree),
    phases.counters_at_edges,
)
OF_DRIVER: tuple[Check, ...] = (
    *(loss.phases_cover, workload_replay.transactions, workload_replay.row_counts),
    *(phases.due, phases.cpu_time, phases.on_the_cpu, workload_replay.value_bytes),
)
OF_COMMAND: tuple[Check, ...] = (loss.command_ran,)


def repeats_run(run: Run) -> list[str]:
    """Check that the baseline run had the same statements and settings, finished, and was not observed."""
    if run.twin is None:
        return []
    twin, reasons = run.twin, []
    properties = run.driver.engine.PROPERTIES
    for key in (*_SAME, engines.name_in(run.driver.config), properties):
        others, own = (driver.config.get(key) for driver in (twin.driver, run.driver))
        if key == properties and others and own:
            others, own = (_without_times(entries) for entries in (others, own))
        if others != own:
            reasons.append(f"the baseline run differs from the run in {key} (driver/config.json)")
    if _databases(twin.driver.config, properties) != _databases(run.driver.config, properties):
        reasons.append("the baseline run differs from the run in databases (driver/config.json)")
    if twin.driver.config["status"] != "ok":
        reasons.append(f"the baseline run's status is {twin.driver.config['status']!r}, not 'ok'")
    if twin.driver.transactions["op"].to_list() != run.driver.transactions["op"].to_list():
        reasons.append("the baseline run has other operations than the run")
    return reasons + _as_a_run(run, twin, OF_DRIVER)


def _without_times(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the engine's properties without its times, which differ without observers."""
    return {name: value for name, value in properties.items() if not name.endswith(", ns")}


def _databases(config: dict[str, Any], properties: str) -> list[dict[str, Any]]:
    """Return the entries of several databases in config.json, without times."""
    return [
        {
            **{key: value for key, value in entry.items() if key != persistent.WAITED},
            properties: _without_times(entry.get(properties, {})),
        }
        for entry in config.get("databases", [])
    ]


def repeats_command(run: Run) -> list[str]:
    """Check that the baseline run had the same command, unobserved. Its effects may vary with time."""
    if run.twin is None:
        return []
    reasons = [
        f"the baseline run's command has another {what}"
        for what in ("line", "folder")
        if run.twin.driver.config["command"][what] != run.driver.config["command"][what]
    ]
    return reasons + _as_a_run(run, run.twin, OF_COMMAND)


def _as_a_run(run: Run, twin: Twin, of_load: tuple[Check, ...]) -> list[str]:
    """Compare the baseline run's board with the run's, and apply the checks of any run and of_load."""
    reasons, state = [], twin.board.run
    if not unwatched(state):
        reasons.append("the baseline run was observed, or does not report that it was not")
    reasons += [f"the baseline run has {name}" for name in observers.find_files(run.folder / "twin/raw")]
    if state.get("clock") != run.board.run.get("clock"):
        reasons.append(f"the baseline run's clock is {state.get('clock')!r}")
    if state.get("clock") == "virtual" and state.get("root_reads") != 0:
        reasons.append(f"the board read its root disk {state.get('root_reads')} times in the baseline run")
    reasons += board_differences("the baseline run", twin.board, run.board)
    if (twin.log is None) != (run.log is None):
        reasons.append("only one of the run and its baseline run has a device log")
    as_run = replace(
        run,
        folder=run.folder / "twin",
        planned_as="twin",
        events=run.events.clear(),
        missing=(),
        cell=replace(run.cell, probes="none"),
        driver=twin.driver,
        board=twin.board,
        log=twin.log,
        seen={},
        ledger=None,
        twin=None,
    )
    problems = twin.board.problems + [problem for check in (*OF_ANY, *of_load) for problem in check(as_run)]
    return reasons + [f"baseline run: {problem}" for problem in problems]


def unwatched(state: dict[str, Any]) -> bool:
    """Return whether run.json reports no probes and no observers."""
    probes = state.get("probes")
    if not isinstance(probes, dict) or state.get("observers") != []:
        return False
    return (probes.get("attached"), probes.get("expected"), probes.get("requested")) == (0, 0, "")


def board_differences(who: str, other: Board, own: Board) -> list[str]:
    """Return messages on how the board of `who` differs from the run's."""
    mounts = [
        board.mount and replace(board.mount, device=_OPEN.sub("", board.mount.device))
        for board in (other, own)
    ]
    reasons = [f"{who}'s mount settings differ from the run's"] if mounts[0] != mounts[1] else []
    reasons += [
        f"{who}'s {name} settings differ from the run's"
        for name in ("queue", "device", "data_mode", "versions")
        if getattr(other, name) != getattr(own, name)
    ]
    return reasons + [
        f"{who}'s {name} differs from the run's"
        for name in ("kernel", "cmdline", "cpuinfo")
        if other.texts.get(name) != own.texts.get(name)
    ]


def present(run: Run) -> list[str]:
    """Check that a watched run in virtual time has a baseline run; its times are reported."""
    if run.probes and run.board.run.get("clock") == "virtual" and run.twin is None:
        return ["the run was observed, but has no baseline run"]
    return []


def plausible_times(run: Run) -> list[str]:
    """Compare the phase times of the baseline run, which are published, with those of the watched run.

    It ran the same statements from the same bytes in virtual time, without observers, which take CPU time but
    no device time. So its times may be shorter by at most the time without a command in flight.
    """
    each = phases.instruction_ns(run)
    if run.twin is None or each is None:
        return []
    own, baseline = run.driver.workload_phases, run.twin.driver.workload_phases
    spent, other = (int((table["end_ns"] - table["begin_ns"]).sum()) for table in (own, baseline))
    watching = spent
    if run.ledger is not None:
        commands, begins, ends = run.ledger.ledger, ints(own["begin_ns"]), ints(own["end_ns"])
        under_way = union([Intervals(ints(commands["issue_ns"]), ints(commands["complete_ns"]))])
        watching -= int(length_within(under_way, begins, ends).sum())
        watching += each * int(phases.copied(run, begins, ends).sum())
    slack = int(_SHARE * spent) + each * _TICK_INSTRUCTIONS * own.height
    if -slack <= spent - other <= watching + slack:
        return []
    return [
        f"the phases of transactions took {spent} ns, in the baseline run {other} ns: "
        f"observers cost at most {watching} ns"
    ]
