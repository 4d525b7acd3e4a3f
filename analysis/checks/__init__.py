"""List the checks that can reject a run: of every run, of a workload driver's, and of a watched command's.

Each check is a function that takes a Run and returns the reasons to reject it. To add one, list it in the
tuple of the loads that it applies to. analysis/report/manifest.py compares a run's documents; self-checks of
the correlator are in analysis/audit/.
"""

from collections.abc import Callable

from analysis.checks import (
    baseline,
    counts,
    covariates,
    crash_trials,
    cross_check,
    disk,
    file_calls,
    ledger_consistency,
    loss,
    persistent,
    phases,
    settings,
    trial_boards,
    trial_plan,
    virtual_board,
    workload_replay,
)
from analysis.run import Run
from base import identity

Check = Callable[[Run], list[str]]

# of any load
OF_ANY: tuple[Check, ...] = (
    loss.files_present,
    loss.host_present,
    loss.steps_succeeded,
    virtual_board.no_disk_read,
    loss.probes_attached,
    loss.observers_watched,
    loss.observers_lost_nothing,
    loss.device_lost_nothing,
    loss.kernel_quiet,
    virtual_board.has_one_cpu,
    settings.equal,
    virtual_board.modules_loaded,
    covariates.unchanged,
    covariates.around,
    covariates.within,
    counts.device_idle,
    counts.agree,
    disk.rehearsed,
    disk.flushes,
    counts.failures_reported,
    phases.counters_at_edges,
    cross_check.ledger_agrees,
    ledger_consistency.commits_waited_for,
    cross_check.content_agrees,
    baseline.present,
)
# of a driver's run: they need its transactions or its config.json
OF_DRIVER: tuple[Check, ...] = (
    loss.driver_finished,
    loss.phases_cover,
    workload_replay.as_timed,
    workload_replay.transactions,
    workload_replay.sql_file,
    workload_replay.row_counts,
    workload_replay.value_bytes,
    settings.as_set,
    settings.as_counted,
    virtual_board.runs_in_real_time,
    phases.due,
    phases.cpu_time,
    phases.on_the_cpu,
    persistent.as_charged,
    persistent.cleaned,
    persistent.as_made,
    file_calls.syncs_without_ledger,
    baseline.repeats_run,
    baseline.plausible_times,
    trial_boards.boards,
    trial_plan.as_planned,
    trial_plan.complete,
    trial_plan.ends,
    trial_plan.faults_fired,
    crash_trials.outcomes,
    crash_trials.sampled_databases,
)
# of a watched command: they need its exit status
OF_COMMAND: tuple[Check, ...] = (
    loss.command_ran,
    baseline.repeats_command,
)


def of_load(load: str) -> tuple[Check, ...]:
    """Return the checks that apply to a load (base/identity.py), in order."""
    return (*OF_ANY, *(OF_DRIVER if load == identity.DRIVER else OF_COMMAND))


def reasons(run: Run) -> list[str]:
    """Return the reasons to reject the run; empty if it is accepted."""
    return [reason for check in of_load(run.cell.load) for reason in check(run)]
