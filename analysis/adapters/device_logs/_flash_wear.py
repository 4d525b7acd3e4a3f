"""What a flash device programmed and erased, with what its merges and its collection of garbage copy.

The model charges a merge with time alone (media.c). Copied is what fits into that time after one erase, at
the profile's own times to read and program: the collection of garbage is charged by the same sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def wear(each: Mapping[str, int], had: Mapping[str, int]) -> dict[str, Any] | None:
    """Return programs, erases, bytes and write amplification; None where the counters do not say.

    each: the parameters. had: the counters.
    """
    needed = ("write_bytes", "programs", "program_bytes", "merges", "unit_switches", "erases", "gc_bytes")
    if not {*needed, "merge_busy_ns"} <= had.keys():
        return None
    unit, page = each["program_bytes"], max(each["read_bytes"], 1)
    reads = -(-unit // page)
    each_ns = reads * each["read_ns"] + each["program_ns"] + each["program_kib_ns"] * unit // 1024
    # the time of merges has the erase of units that were filled from start to end, too
    copying = had["merge_busy_ns"] - (had["merges"] + had["unit_switches"]) * each["erase_ns"]
    copied = max(copying, 0) // each_ns if each_ns else 0
    programmed = had["program_bytes"] + copied * unit + had["gc_bytes"]
    return {
        "host_bytes": had["write_bytes"],
        "programmed_bytes": programmed,
        "programs": had["programs"] + copied + had["gc_bytes"] // unit,
        "erases": had["erases"] + had["merges"],
        "merges": had["merges"],
        "merge_programs": copied,
        "merge_bytes": copied * unit,
        "gc_bytes": had["gc_bytes"],
        "write_amplification": programmed / had["write_bytes"] if had["write_bytes"] else None,
    }
