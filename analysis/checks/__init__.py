"""The checks of every run. Each is a function Run -> reasons; one reason rejects the run.

Those of the correlator itself are in analysis/audit/.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.checks import (
    again,
    board,
    commits,
    content,
    counts,
    covariates,
    crash,
    disk,
    engine,
    failures,
    loss,
    machine,
    persistent,
    phases,
    rendered,
    settings,
    tried,
    twin,
    twin_times,
    unledgered,
    witness,
)
from analysis.run import Run
from base import identity

CHECKS: tuple[Callable[[Run], list[str]], ...] = (
    loss.files_there,
    loss.host_there,
    loss.driver_finished,
    loss.command_ran,
    loss.phases_cover,
    rendered.as_timed,
    again.made,
    again.of_the_file,
    again.rows,
    rendered.values_as_told,
    loss.steps_succeeded,
    loss.no_disk_read,
    loss.probes_attached,
    loss.observers_watched,
    loss.observers_lost_nothing,
    loss.device_lost_nothing,
    loss.kernel_quiet,
    machine.as_built,
    settings.equal,
    board.has_its_modules,
    covariates.same,
    covariates.around,
    covariates.within,
    engine.as_set,
    engine.as_counted,
    counts.device_idle,
    counts.agree,
    disk.rehearsed,
    disk.flushes,
    failures.none,
    phases.due,
    phases.counters_at_edges,
    phases.cpu_time,
    phases.on_the_cpu,
    persistent.as_charged,
    persistent.cleaned,
    persistent.as_made,
    witness.holds,
    commits.waited_for,
    content.contradicts_nothing,
    unledgered.records,
    unledgered.syncs,
    unledgered.frames,
    twin.there,
    twin.same,
    twin.same_command,
    twin_times.plausible,
    crash.there,
    crash.as_planned,
    crash.ends,
    tried.boards,
    tried.outcomes,
    tried.looks,
)


def name(check: Callable[[Run], list[str]]) -> str:
    """Return what a plan calls a check: `<module>.<function>`."""
    return f"{check.__module__.rpartition('.')[2]}.{check.__name__}"


# What asks for transactions, or for the driver's account of them: applies to no other load.
OF_DRIVER = frozenset(
    (
        loss.driver_finished,
        loss.phases_cover,
        rendered.as_timed,
        again.of_the_file,
        again.made,
        again.rows,
        rendered.values_as_told,
        engine.as_set,
        engine.as_counted,
        phases.due,
        phases.cpu_time,
        phases.on_the_cpu,
        persistent.as_charged,
        persistent.cleaned,
        persistent.as_made,
        unledgered.syncs,
        unledgered.frames,
        twin.same,
        twin_times.plausible,
        crash.there,
        crash.as_planned,
        crash.ends,
        tried.boards,
        tried.outcomes,
        tried.looks,
    )
)
# And what asks for a command's end.
OF_COMMAND = frozenset((loss.command_ran, twin.same_command))


def of_load(load: str) -> list[Callable[[Run], list[str]]]:
    """Return the checks that apply to runs of a load (base/identity.py), in their order."""
    without = OF_COMMAND if load == identity.DRIVER else OF_DRIVER
    return [check for check in CHECKS if check not in without]


def names(load: str = identity.DRIVER) -> list[str]:
    """Return the names of the checks of a load's runs, in their order."""
    return [name(check) for check in of_load(load)]


def reasons(run: Run) -> list[str]:
    """Return why the run is rejected; empty if it is not."""
    return [reason for check in of_load(run.cell.load) for reason in check(run)]
