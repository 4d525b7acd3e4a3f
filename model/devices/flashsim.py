"""The driver flashsim, our simulated flash: size attribute, log, counters, past states, sources of its model.

The device itself: images/devices/flashsim/README.md.
"""

from collections.abc import Mapping

from model.devices import Device

PAGE_KIB = 4
# a PCIe 6.0 x4 link moves 30 000
MOST_BUS_MB_S = 32_000


def impossible(p: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the parameters that contradict physics, each with the nearest possible value and the reason.

    The module refuses only what its arithmetic does not allow (flash_check in model.c).
    """
    read, program, slc = (max(1, p[name]) for name in ("read_ns", "program_ns", "slc_program_ns"))
    whole, page = (program + p["program_kib_ns"] * kib for kib in (p["program_bytes"] // 1024, PAGE_KIB))
    slc = min(slc, whole) if p["slc_mib"] else p["slc_program_ns"]
    # without a cache each FLUSH is a clean one
    dirty = p["flush_dirty_ns"] + (slc if p["slc_mib"] else page) if p["cache_kib"] else p["flush_clean_ns"]
    possible = {
        "read_ns": (read, "a die takes time to sense a page"),
        "program_ns": (program, "a die takes time to program"),
        "slc_program_ns": (slc, "a program as SLC takes time, and at most that of a program unit"),
        "flush_clean_ns": (
            min(p["flush_clean_ns"], dirty),
            "a FLUSH without data takes no longer than one that programs some, and flush_dirty_ns",
        ),
        "bus_mb_s": (min(p["bus_mb_s"], MOST_BUS_MB_S), "no device has a faster bus"),
    }
    return {name: (value, why) for name, (value, why) in possible.items() if value != p[name]}


DEVICE = Device(
    size=lambda mib: {"sectors": mib * 2048},
    modelled=("geometry", "timing"),
    logs=True,
    history=lambda name: f"/sys/block/{name}/flashsim",
    counts=True,
    impossible=impossible,
    model_sources=("model.c", "media.c", "units.c", "map.c", "map_cache.c"),
)
