"""The checks that accept or reject a run.

Each check is a function that takes a Run and returns the reasons to reject it. To add one, list it in CHECKS,
and in OF_DRIVER if it needs the driver's transactions. Self-checks of the correlator are in analysis/audit/.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.checks import (
    baseline,
    baseline_times,
    board_modules,
    commits,
    content,
    counts,
    covariates,
    crash,
    crash_trials,
    cross_check,
    disk,
    engine,
    failures,
    file_calls,
    loss,
    machine,
    persistent,
    phases,
    rendered,
    settings,
    workload_replay,
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
    workload_replay.transactions,
    workload_replay.sql_file,
    workload_replay.row_counts,
    rendered.value_bytes,
    loss.steps_succeeded,
    loss.no_disk_read,
    loss.probes_attached,
    loss.observers_watched,
    loss.observers_lost_nothing,
    loss.device_lost_nothing,
    loss.kernel_quiet,
    machine.as_built,
    settings.equal,
    board_modules.loaded,
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
    cross_check.ledger_agrees,
    commits.waited_for,
    content.contradicts_nothing,
    file_calls.syncs_without_ledger,
    baseline.present,
    baseline.same,
    baseline.same_command,
    baseline_times.plausible,
    crash.there,
    crash.as_planned,
    crash.ends,
    crash_trials.boards,
    crash_trials.outcomes,
    crash_trials.sampled_databases,
)


def name(check: Callable[[Run], list[str]]) -> str:
    """Return a check's name: `<module>.<function>`."""
    return f"{check.__module__.rpartition('.')[2]}.{check.__name__}"


# Checks that need the driver's transactions or its config.json. They apply to no other load.
OF_DRIVER = frozenset(
    (
        loss.driver_finished,
        loss.phases_cover,
        rendered.as_timed,
        workload_replay.sql_file,
        workload_replay.transactions,
        workload_replay.row_counts,
        rendered.value_bytes,
        engine.as_set,
        engine.as_counted,
        phases.due,
        phases.cpu_time,
        phases.on_the_cpu,
        persistent.as_charged,
        persistent.cleaned,
        persistent.as_made,
        file_calls.syncs_without_ledger,
        baseline.same,
        baseline_times.plausible,
        crash.there,
        crash.as_planned,
        crash.ends,
        crash_trials.boards,
        crash_trials.outcomes,
        crash_trials.sampled_databases,
    )
)
# Checks that need a command's exit.
OF_COMMAND = frozenset((loss.command_ran, baseline.same_command))


def of_load(load: str) -> list[Callable[[Run], list[str]]]:
    """Return the checks that apply to a load (base/identity.py), in order."""
    without = OF_COMMAND if load == identity.DRIVER else OF_DRIVER
    return [check for check in CHECKS if check not in without]


def names(load: str = identity.DRIVER) -> list[str]:
    """Return the names of the checks that apply to a load, in order."""
    return [name(check) for check in of_load(load)]


def reasons(run: Run) -> list[str]:
    """Return the reasons to reject the run; empty if it is accepted."""
    return [reason for check in of_load(run.cell.load) for reason in check(run)]
