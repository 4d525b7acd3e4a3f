"""The truth checks. Each is a function Run -> reasons; one reason rejects the run."""

from __future__ import annotations

from collections.abc import Callable

from analysis.checks import (
    again,
    board,
    busy,
    content,
    counts,
    disk,
    engine,
    failures,
    loss,
    machine,
    order,
    phases,
    planned,
    release,
    rendered,
    settings,
    twin,
    twin_times,
    unledgered,
    witness,
)
from analysis.run import Run

CHECKS: tuple[Callable[[Run], list[str]], ...] = (
    loss.files_there,
    loss.host_there,
    loss.driver_finished,
    loss.phases_cover,
    rendered.as_timed,
    again.made,
    again.rows,
    rendered.values_as_told,
    planned.as_the_cell,
    planned.at_default,
    release.whole,
    loss.steps_succeeded,
    loss.no_disk_read,
    loss.probes_attached,
    loss.observers_watched,
    loss.observers_lost_nothing,
    loss.device_lost_nothing,
    loss.kernel_quiet,
    machine.as_built,
    settings.equal,
    board.one_kernel,
    engine.as_set,
    counts.device_idle,
    counts.agree,
    disk.flushes,
    busy.long_enough,
    busy.as_modelled,
    busy.in_the_log,
    failures.none,
    phases.filled,
    phases.counters_at_edges,
    phases.cpu_time,
    phases.on_the_cpu,
    order.calls,
    witness.holds,
    content.contradicts_nothing,
    unledgered.records,
    unledgered.syncs,
    unledgered.frames,
    twin.there,
    twin.same,
    twin_times.plausible,
    twin_times.device,
)


def name(check: Callable[[Run], list[str]]) -> str:
    """Return what a plan calls a check: `<module>.<function>`."""
    return f"{check.__module__.rpartition('.')[2]}.{check.__name__}"


def names() -> list[str]:
    """Return the names of all checks, in their order."""
    return [name(check) for check in CHECKS]


def reasons(run: Run) -> list[str]:
    """Return why the run is rejected; empty if it is not.

    All checks are made, whatever the plan says: it is a file of the run. It may know of more.
    """
    listed = run.plan["checks"] if run.plan else []
    unknown = [f"the plan has a check that is not known here: {one}" for one in listed if one not in names()]
    return unknown + [reason for check in CHECKS for reason in check(run)]
