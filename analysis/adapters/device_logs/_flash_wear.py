"""Programs and erases of a flash device, including the copies of merges and garbage collection.

The model charges a merge with time only (media.c). The copied bytes are computed from that time minus one
erase, with the profile's times to read and program. Garbage collection is charged in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def wear(parameters: Mapping[str, int], counters: Mapping[str, int]) -> dict[str, Any] | None:
    """Return programs, erases, bytes and write amplification; None if a counter is missing."""
    needed = ("write_bytes", "programs", "program_bytes", "merges", "unit_switches", "erases", "gc_bytes")
    if not {*needed, "merge_busy_ns"} <= counters.keys():
        return None
    unit, page = parameters["program_bytes"], max(parameters["read_bytes"], 1)
    reads = -(-unit // page)
    copy_ns = (
        reads * parameters["read_ns"] + parameters["program_ns"] + parameters["program_kib_ns"] * unit // 1024
    )
    # the merges' time includes the erases of units that were filled from start to end
    copying = (
        counters["merge_busy_ns"] - (counters["merges"] + counters["unit_switches"]) * parameters["erase_ns"]
    )
    copied = max(copying, 0) // copy_ns if copy_ns else 0
    programmed = counters["program_bytes"] + copied * unit + counters["gc_bytes"]
    return {
        "host_bytes": counters["write_bytes"],
        "programmed_bytes": programmed,
        "programs": counters["programs"] + copied + counters["gc_bytes"] // unit,
        "erases": counters["erases"] + counters["merges"],
        "merges": counters["merges"],
        "merge_programs": copied,
        "merge_bytes": copied * unit,
        "gc_bytes": counters["gc_bytes"],
        "write_amplification": programmed / counters["write_bytes"] if counters["write_bytes"] else None,
    }
