"""Compare the phase times of the baseline run with those of the watched run.

The published times are the baseline run's. It ran the same statements from the same bytes in virtual time.
Only the observers are missing, which take CPU time but not device time.
"""

from __future__ import annotations

from analysis.checks.phases import copied, instruction_ns
from analysis.run import Run
from base.arrays import Intervals, ints, length_within, union

# Timer-driven work, such as a journal commit every 5 s, comes elsewhere in the baseline run. It took at most
# 1.1 % of a phase; a run on another device or clock differs by more.
_SHARE = 0.05
# In a short run, a kernel tick and what it wakes also counts, in each phase.
_TICK_INSTRUCTIONS = 500_000


def plausible(run: Run) -> list[str]:
    """Check the baseline run's phase times.

    They may be shorter than the watched run's by at most the time without a command in flight.
    """
    each = instruction_ns(run)
    if run.twin is None or each is None:
        return []
    own, baseline = run.driver.workload_phases, run.twin.driver.workload_phases
    spent, other = (int((table["end_ns"] - table["begin_ns"]).sum()) for table in (own, baseline))
    watching = spent
    if run.ledger is not None:
        commands, begins, ends = run.ledger.ledger, ints(own["begin_ns"]), ints(own["end_ns"])
        under_way = union([Intervals(ints(commands["issue_ns"]), ints(commands["complete_ns"]))])
        watching -= int(length_within(under_way, begins, ends).sum())
        watching += each * int(copied(run, begins, ends).sum())
    slack = int(_SHARE * spent) + each * _TICK_INSTRUCTIONS * own.height
    if -slack <= spent - other <= watching + slack:
        return []
    return [
        f"the phases of transactions took {spent} ns, in the baseline run {other} ns: "
        f"observers cost at most {watching} ns"
    ]
