"""The truth checks. Each is a function Run -> reasons; one reason rejects the run."""

from __future__ import annotations

from collections.abc import Callable

from analysis.checks import counts, loss, settings, twin, witness
from analysis.run import Run

CHECKS: tuple[Callable[[Run], list[str]], ...] = (
    loss.files_there,
    loss.host_there,
    loss.driver_finished,
    loss.phases_cover,
    loss.steps_succeeded,
    loss.no_disk_read,
    loss.probes_attached,
    loss.probes_lost_nothing,
    loss.blktrace_lost_nothing,
    loss.device_lost_nothing,
    loss.kernel_quiet,
    settings.equal,
    counts.device_idle,
    counts.agree,
    witness.holds,
    twin.there,
    twin.same,
)


def reasons(run: Run) -> list[str]:
    """Return why the run is rejected; empty if it is not."""
    return [reason for check in CHECKS for reason in check(run)]
