"""Are the untraced twin's times those of the same work, less what watching cost?

The published times are the twin's. It ran the same statements from the same bytes, in the same virtual
time; what the run took longer was spent in the probes and the log of calls, which wrote a record each time.
"""

from __future__ import annotations

import numpy as np

from analysis.adapters import proberecords
from analysis.checks import twin_device
from analysis.checks.phases import copied, instruction_ns
from analysis.ledger.arrays import Intervals, Ints, inside, ints, length_within, union
from analysis.ledger.timeline import edges
from analysis.run import Run

# What a record of the probes or a call in the log costs, in instructions: 300 to 710 on the average of a run,
# the most where a second observer watches, too.
RECORD_INSTRUCTIONS = 1000
# Of a time that is compared: what comes by the clock comes elsewhere in the baseline run.
SLACK = 0.01
# Of a transaction in a phase of many, for what its clock's step and a tick of the kernel add.
FEW_INSTRUCTIONS = 5000
# A tick with what it wakes: up to 13 000 instructions.
TICK_INSTRUCTIONS = 25000
# Of the transactions: what comes by the clock, such as a commit of the journal every 5 s, comes in another
# one of the twin.
OTHERS = 0.1
# Of the sum of the commands' times, where some wait in the device for others: 3.1 % on a quick device.
_WAITING = 0.06
# Of a phase. What comes by the clock comes at another place in the baseline run, and may move where a
# filesystem's log crosses its segments. Each crossing then takes another command for as long as the run goes
# on: one in 100 transactions and 1.1 % of a phase were seen. A baseline run on another device or at another
# clock is further off.
_PHASE = 0.05


def plausible(run: Run) -> list[str]:
    """The twin took as long as the run, less at most what the run's records cost."""
    twin, each = run.twin, instruction_ns(run)
    if twin is None or each is None or not (run.folder / "raw/probes.bin").is_file():
        return []
    own, other = run.driver, twin.driver
    if own.transactions["op"].to_list() != other.transactions["op"].to_list():
        return []  # twin.same says so
    took, twins = (ints(ran.transactions["end_ns"] - ran.transactions["begin_ns"]) for ran in (own, other))
    records = each * RECORD_INSTRUCTIONS * _records(run)
    copies = each * copied(run, *edges(own.transactions))
    costs = np.minimum(records, _without_commands(run, took)) + copies
    # What came by the clock may change what a device does for long after: where the two devices were not
    # given the same commands in the same order, each one's own times are taken off.
    by_devices, without = twin_device.reordered(run), ""
    if by_devices:
        took, twins = took - by_devices[0], twins - by_devices[1]
        without = "less the device's, "
    few = each * FEW_INSTRUCTIONS
    ticks = each * TICK_INSTRUCTIONS  # a tenth of short transactions have one that the other run's lacks
    wrong = _outside(took, twins, costs, ticks)
    found = []
    if wrong.sum() > max(OTHERS * wrong.size, 1):
        at = int(np.argmax(wrong))
        found.append(
            f"{wrong.sum()} of {wrong.size} transactions took another time in the untraced twin than "
            f"watching explains: {without}first transaction {at}, {took[at]} ns, in the twin {twins[at]} ns"
        )
    phase = own.transactions["phase"].to_numpy()
    for row, other_row in zip(own.phases.iter_rows(), other.phases.iter_rows(), strict=False):
        name, spent, twin_spent = row[0], ints([row[2] - row[1]]), ints([other_row[2] - other_row[1]])
        of_phase = phase == name
        if by_devices:
            spent = spent - by_devices[0][of_phase].sum()
            twin_spent = twin_spent - by_devices[1][of_phase].sum()
        cost = ints([int(costs[of_phase].sum())])
        ticks = few * (int(of_phase.sum()) + 1)
        if of_phase.any() and _outside(spent, twin_spent, cost, ticks, _PHASE).any():
            found.append(
                f"phase {name!r} took {without}{spent[0]} ns, in the untraced twin {twin_spent[0]} ns: "
                f"watching cost at most {cost[0]} ns"
            )
    return found


def device(run: Run) -> list[str]:
    """Both devices were at work as long, by their logs; and each command came in the same transaction,
    where the twin's got the run's commands in the run's order.

    The model's time of a command depends on when it comes, to 0.13 % of all of them; no command was in
    another transaction. In another order, commands that wait in the device for others wait for other ones,
    and what comes by the clock may give a device commands that the other did not get.
    """
    both = twin_device.logs(run)
    if both is None:
        return []
    own, other = (log for _, log in both)
    found, in_order = [], twin_device.in_order(own, other)
    if in_order:
        rows = [inside(ints(log["begin_ns"]), *edges(ran.transactions)) for ran, log in both]
        apart = np.flatnonzero(rows[0] != rows[1])
        if apart.size > SLACK * own.size:
            found.append(
                f"{apart.size} of {own.size} commands came in another transaction of the untraced twin, by "
                f"its device's log: first command {apart[0]}"
            )
    spent, twins = (int((ints(log["end_ns"]) - ints(log["begin_ns"])).sum()) for log in (own, other))
    begins, ends = ints(own["begin_ns"]), ints(own["end_ns"])
    waiting = bool((begins[1:] < np.maximum.accumulate(ends)[:-1]).any())
    allowed = (_WAITING if waiting else SLACK) * spent
    if not in_order:
        allowed += twin_device.of_one_alone(own, other)
    if (in_order or not waiting) and abs(spent - twins) > allowed:
        found.append(
            f"the device was at work for {spent} ns, the untraced twin's for {twins} ns, by their logs"
        )
    return found


def _outside(took: Ints, twins: Ints, cost: Ints, few: int, share: float = SLACK) -> np.ndarray:
    """Return where the twin's time is not the run's, less at most the cost of watching."""
    less = took - twins
    slack = share * took + few
    return np.asarray((less < -slack) | (less > cost + slack))


def _records(run: Run) -> Ints:
    """Return how many records of the probes and calls in the log were written in each transaction.

    But for names: each thread and each file has one, when it is first seen.
    """
    begins, ends = edges(run.driver.transactions)
    rows = proberecords.read(run.folder / "raw/probes.bin")
    names = np.isin(rows["type"], [proberecords.TYPES[name] for name in ("name", "comm")])
    times = [ints(rows["end_ns"][~names])]
    if run.driver.vfs is not None:
        times.append(ints(run.driver.vfs["begin_ns"]))
    which = np.concatenate([inside(part, begins, ends) for part in times])
    return ints(np.bincount(which[which >= 0], minlength=begins.size))


def _without_commands(run: Run, took: Ints) -> Ints:
    """Return how many ns of each transaction no command was under way. Watching takes the CPU, and a
    command takes as long as the device needs. Without the ledger it is all."""
    if run.ledger is None:
        return took
    commands = run.ledger.ledger
    under_way = union([Intervals(ints(commands["issue_ns"]), ints(commands["complete_ns"]))])
    return took - length_within(under_way, *edges(run.driver.transactions))
