"""How much later may some of many come than they should?

An interrupt, a tick or another thread takes the CPU, seldom and not for long: of many commands or waits a
few are late on clean runs, and fewer by more.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.ledger.arrays import Ints


def most(late: Ints, tiers: Mapping[int, tuple[float, int]], never: int, slower: int) -> int:
    """Return how late (ns) one may be, where so many are as late as these, on a CPU that is so much slower.

    tiers: by ns, ascending, in which share of them more is allowed, or in how many, of however few; never: ns
    that none may exceed.
    """
    for ns, (share, least) in tiers.items():
        if int((late > ns * slower).sum()) > max(least, share * late.size):
            return ns * slower
    return never * slower
