"""Is the untraced twin the same run, but for the watching?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from analysis import observers
from analysis.adapters.board import Board
from analysis.checks import again, counts, loss, machine, persistent, phases, rendered, settings
from analysis.run import Run, Twin
from model import engines

# A device that is mounted by an open file of format_device.py, which was another process for the twin.
_OPEN = re.compile(r"^/proc/[0-9]+/fd/[0-9]+$")
# What driver.config must say alike of both: what ran, on what, with what in effect.
_SAME = ("driver", "engine", "requested", "effective", "sql_sha256", "rows_before", "rows_after")


def same(run: Run) -> list[str]:
    """The twin ran the same statements with the same settings, ended well, and was not watched."""
    if run.twin is None:
        return []
    twin, found = run.twin, []
    properties = run.driver.engine.PROPERTIES
    for key in (*_SAME, engines.name_in(run.driver.config), properties):
        others, own = (one.config.get(key) for one in (twin.driver, run.driver))
        if key == properties and others and own:
            others, own = (_without_times(one) for one in (others, own))
        if others != own:
            found.append(f"the untraced twin differs from the run in {key} (driver/config.json)")
    if _databases(twin.driver.config, properties) != _databases(run.driver.config, properties):
        found.append("the untraced twin differs from the run in databases (driver/config.json)")
    if twin.driver.config["status"] != "ok":
        found.append(f"the untraced twin's status is {twin.driver.config['status']!r}, not 'ok'")
    if twin.driver.transactions["op"].to_list() != run.driver.transactions["op"].to_list():
        found.append("the untraced twin ran other operations than the run")
    checks = (
        *(loss.phases_cover, again.made, again.rows),
        *(phases.due, phases.cpu_time, phases.on_the_cpu, rendered.values_as_told),
    )
    return found + _as_a_run(run, twin, checks)


def _without_times(properties: dict[str, Any]) -> dict[str, Any]:
    """Return properties but those that are a time that the engine took: without the watching it is
    another."""
    return {name: value for name, value in properties.items() if not name.endswith(", ns")}


def _databases(config: dict[str, Any], properties: str) -> list[dict[str, Any]]:
    """Return what config.json has of each of several databases, but for times."""
    return [
        {
            **{key: value for key, value in one.items() if key != persistent.WAITED},
            properties: _without_times(one.get(properties, {})),
        }
        for one in config.get("databases", [])
    ]


def same_command(run: Run) -> list[str]:
    """The twin was given the same command, and was not watched. What a command does may differ by time."""
    if run.twin is None:
        return []
    found = [
        f"the untraced twin ran another {what}"
        for what in ("line", "folder")
        if run.twin.driver.config["command"][what] != run.driver.config["command"][what]
    ]
    return found + _as_a_run(run, run.twin, (loss.command_ran,))


def _as_a_run(run: Run, twin: Twin, of_load: tuple[Callable[[Run], list[str]], ...]) -> list[str]:
    """The twin's board is the run's, unwatched, and what holds of any run holds of it, and of_load."""
    found, state = [], twin.board.run
    if not unwatched(state):
        found.append("the untraced twin was watched, or does not say that it was not")
    found += [f"the untraced twin has {name}" for name in observers.left(run.folder / "twin/raw")]
    if state.get("clock") != run.board.run.get("clock"):
        found.append(f"the untraced twin's clock is {state.get('clock')!r}")
    if state.get("clock") == "virtual" and state.get("root_reads") != 0:
        found.append(f"the board read its root disk {state.get('root_reads')} times in the untraced twin")
    found += another_board("the untraced twin", twin.board, run.board)
    if (twin.log is None) != (run.log is None):
        found.append("one of the run and its untraced twin has no log of its device")
    as_run = replace(
        run,
        folder=run.folder / "twin",
        planned_as="twin",
        events=run.events.clear(),
        missing=[],
        cell=replace(run.cell, probes="none"),
        driver=twin.driver,
        board=twin.board,
        log=twin.log,
        seen={},
        ledger=None,
        twin=None,
    )
    checks = (
        *(settings.equal, loss.steps_succeeded, loss.observers_watched, loss.kernel_quiet),
        *(machine.as_built, loss.device_lost_nothing, counts.device_idle, counts.agree),
        *(phases.counters_at_edges, *of_load),
    )
    problems = twin.board.problems + [problem for check in checks for problem in check(as_run)]
    return found + [f"untraced twin: {problem}" for problem in problems]


def unwatched(state: dict[str, Any]) -> bool:
    """Whether run.json says that nobody watched."""
    probes = state.get("probes")
    if not isinstance(probes, dict) or state.get("observers") != []:
        return False
    return (probes.get("attached"), probes.get("expected"), probes.get("requested")) == (0, 0, "")


def another_board(who: str, other: Board, own: Board) -> list[str]:
    """Return in what the board of `who` is not the run's."""
    mounts = [
        board.mount and replace(board.mount, device=_OPEN.sub("", board.mount.device))
        for board in (other, own)
    ]
    found = [f"{who}'s mount settings differ from the run's"] if mounts[0] != mounts[1] else []
    found += [
        f"{who}'s {name} settings differ from the run's"
        for name in ("queue", "device", "data_mode", "versions")
        if getattr(other, name) != getattr(own, name)
    ]
    return found + [
        f"{who}'s {name} is not the run's"
        for name in ("kernel", "cmdline", "cpuinfo")
        if other.texts.get(name) != own.texts.get(name)
    ]


def there(run: Run) -> list[str]:
    """A watched run in virtual time has a twin: its times are the ones to report."""
    if run.probes and run.board.run.get("clock") == "virtual" and run.twin is None:
        return ["the run was watched and has no untraced twin"]
    return []
