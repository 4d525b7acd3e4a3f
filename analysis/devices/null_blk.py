"""null_blk: Documentation/block/null_blk.rst."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.devices import Device
from base.errors import BadInput

_BY_A_TIMER = "2"  # irqmode


def _takes(parameters: Mapping[str, str]) -> int:
    """A timer of completion_nsec is started when a command comes. Raises BadInput."""
    if parameters.get("irqmode") != _BY_A_TIMER:
        return 0
    text = parameters.get("completion_nsec", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadInput("raw/board/device.txt", "completion_nsec", repr(text), "a number of ns")
    return int(text)


def _one_at_a_time(parameters: Mapping[str, str], queue: Mapping[str, str]) -> bool:
    """There is one tag, and no scheduler that has more of its own."""
    one = all(parameters.get(name) == "1" for name in ("submit_queues", "hw_queue_depth"))
    return one and "[none]" in queue.get("scheduler", "")


DEVICE = Device(
    size=lambda mib: {"size": mib},
    modelled=("geometry",),
    takes=_takes,
    one_at_a_time=_one_at_a_time,
    # measured: 5000 to 8000 ns; a flush copies what the cache holds
    block_ns=10_000,
)
