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


# Measured: 5000 to 8000 ns; a flush copies what the cache holds.
DEVICE = Device(size=lambda mib: {"size": mib}, modelled=("geometry",), takes=_takes, block_ns=10_000)
