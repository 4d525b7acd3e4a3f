"""Compare the times of the baseline run with those of the watched run.

The published times are the baseline run's. It ran the same statements from the same bytes, in the same
virtual time, so it is the watched run without the watching, which takes the CPU and not the device.
"""

from __future__ import annotations

from analysis.checks.phases import copied, instruction_ns
from analysis.run import Run
from base.arrays import Intervals, ints, length_within, union

# What comes by the clock, such as a commit of the journal every 5 s, comes at another place. It took 1.1 % of
# a phase at most; a baseline run on another device or at another clock is further off.
_SHARE = 0.05
# In a short run also a tick of the kernel and what it wakes, in each phase.
_TICK_INSTRUCTIONS = 500_000


def plausible(run: Run) -> list[str]:
    """The transactions' phases took as long as in the watched run, less at most the time in which that had
    no command under way."""
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
        f"the phases of transactions took {spent} ns, in the untraced twin {other} ns: "
        f"watching cost at most {watching} ns"
    ]
