"""Are the untraced twin's times those of the same work, less what watching cost?

The published times are the twin's. It ran the same statements from the same bytes, in the same virtual
time; what the run took longer was spent in the probes and the log of calls, which wrote a record each time.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.adapters import proberecords
from analysis.checks import twin_device, twin_waits
from analysis.checks.phases import copied, instruction_ns
from analysis.checks.twin_waits import FEW_INSTRUCTIONS, SLACK, TICK_INSTRUCTIONS
from analysis.ledger.arrays import Intervals, Ints, inside, ints, length_within, union
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids, edges
from analysis.run import Run

# What a record of the probes or a call in the log costs, in instructions: 300 to 710 on the average of a run,
# the most where a second observer watches, too.
RECORD_INSTRUCTIONS = 1000
# Of the transactions: what comes by the clock, such as a commit of the journal every 5 s, comes in another
# one of the twin.
OTHERS = 0.1
# of the sum of the commands' times where some wait in the device for others: 3.1 % on a quick one
_WAITING = 0.06
# ns: what ticks and what they wake add to a transaction of one of them: up to 0.12 ms in the 24 cells of
# docs/ledger.md; on a quick device the writing beside it comes in another transaction, 0.25 ms, seldom
_TICKS_NS, _SELDOM_NS, _SELDOM = 250_000, 1_000_000, 0.01
# A round of the flusher, or a commit that comes by the clock, is in a transaction of each; and of one run in
# fifty one transaction had to wait for a command of another thread's.
_PLACES, _ONCE = 2, 1
# The log of calls grows by blocks of as many calls as are foreseen for the whole run, so many a transaction
# and at most _MOST_CALLS (workloads/engines/sqlite/log.c). The transaction that fills one waits until the
# pages of the next are touched: 0.47 ms for a block of 4800 calls.
_FORESEEN, _MOST_CALLS = 32, 1 << 18
# and it moves commands: 11 transactions had another number of them, by 3 times, and 12 by 12, in WAL on
# a slow device (`make reproduce PAPER=apsys17`)
_MOVED = 4


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
        took, twins = took - by_devices.busy[0], twins - by_devices.busy[1]
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
            spent = spent - by_devices.busy[0][of_phase].sum()
            twin_spent = twin_spent - by_devices.busy[1][of_phase].sum()
        cost = ints([int(costs[of_phase].sum())])
        if of_phase.any() and _outside(spent, twin_spent, cost, few * (int(of_phase.sum()) + 1)).any():
            found.append(
                f"phase {name!r} took {without}{spent[0]} ns, in the untraced twin {twin_spent[0]} ns: "
                f"watching cost at most {cost[0]} ns"
            )
    # also of other threads, while commands are under way
    watching = {name: int((records + copies)[phase == name].sum()) for name in {*phase.tolist()}}
    return (
        found
        + _apart(run, took, twins, costs, by_devices)
        + twin_waits.gaps(run, each)
        + twin_waits.off_cpu(run, each, watching)
    )


def _apart(
    run: Run, took: Ints, twins: Ints, cost: Ints, by_devices: twin_device.Reordered | None
) -> list[str]:
    """A transaction took another time in the twin, by more than ticks explain, only where something came by
    the clock. Where another thread of the driver's works beside it nobody can say. `took` and `twins` are
    less the devices' times where those got their commands in another order.
    """
    if run.ledger is None or driver_tids(run.ledger.few).size != 1 or not run.driver.workload_phases.height:
        return []
    came, slower = _by_the_clock(run, run.ledger), run.ledger.given.slower
    if by_devices and by_devices.elsewhere > max(SLACK * took.size, _MOVED * came + _ONCE):
        return [
            f"{by_devices.elsewhere} transactions had another number of commands in the untraced twin, "
            f"by its device's log, and {came} times something came by the clock"
        ]
    without = "less the device's, " if by_devices else ""
    wrong = np.flatnonzero(_outside(took, twins, cost, _TICKS_NS * slower))
    if wrong.size <= _SELDOM * took.size:
        wrong = np.flatnonzero(_outside(took, twins, cost, _SELDOM_NS * slower))
    if wrong.size <= _PLACES * came + _ONCE + _grown(run):
        return []
    return [
        f"{wrong.size} transactions took another time in the untraced twin, and {came} times something came "
        f"by the clock: {without}first transaction {wrong[0]}, {took[wrong[0]]} ns, in the twin "
        f"{twins[wrong[0]]} ns"
    ]


def _grown(run: Run) -> int:
    """Return how often the run's log of calls, which the twin has not, took another block."""
    if run.driver.vfs is None:
        return 0
    block = min(_FORESEEN * run.driver.transactions.height, _MOST_CALLS)
    return run.driver.vfs.height // max(block, 1)


def _by_the_clock(run: Run, made: Ledger) -> int:
    """Return how often the flusher wrote, or a commit or a checkpoint was under way that no sync waited for,
    from the first transaction to the end of the close."""
    begin = int(run.driver.workload_phases["begin_ns"][0])
    end = max(run.driver.phases.filter(pl.col("phase") != "drain")["end_ns"])
    few = made.few
    syncs = union([Intervals(ints(few["sync"]["begin_ns"]), ints(few["sync"]["end_ns"]))])
    rounds, commits, checkpoints = (
        rows[(rows["end_ns"] >= begin) & (rows["begin_ns"] < end)]
        for rows in (few["writeback"], few["commit"], few["checkpoint"])
    )
    alone = ~np.isin(commits["a"], few["commit_wait"]["a"])
    return int(rounds.size + alone.sum() + (inside(ints(checkpoints["begin_ns"]), *syncs) < 0).sum())


def device(run: Run) -> list[str]:
    """Both devices were at work as long, by their logs; and each command came in the same transaction,
    where the twin's got the run's commands in the run's order.

    The model's time of a command depends on when it comes, to 0.13 % of all of them; no command was in
    another transaction. In another order, commands that wait in the device for others wait for other ones.
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
    if (in_order or not waiting) and abs(spent - twins) > (_WAITING if waiting else SLACK) * spent:
        found.append(
            f"the device was at work for {spent} ns, the untraced twin's for {twins} ns, by their logs"
        )
    return found


def _outside(took: Ints, twins: Ints, cost: Ints, few: int) -> np.ndarray:
    """Return where the twin's time is not the run's, less at most the cost of watching."""
    less = took - twins
    slack = SLACK * took + few
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
