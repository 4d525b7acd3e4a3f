"""Yield devices near a fitted one, to try: other program unit, cache, order of draining, bus, or no SLC."""

from collections.abc import Iterator

from commitpath.fitting.candidate import Candidate
from commitpath.fitting.experiment_lists import KIB
from commitpath.fitting.joint_fit import BUS, MOST_BUS

PROGRAM_KIB = (4, 8, 16, 32, 64, 128)
CACHE_KIB = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192)


def sizes(program_kib: int) -> list[int]:
    """Return the sizes that a cache behind this program unit may have."""
    return [kib for kib in CACHE_KIB if program_kib <= kib <= 2048 * program_kib]


def neighbours(here: Candidate) -> Iterator[Candidate]:
    """Yield devices with another program unit, cache, order of draining or bus, or without SLC."""
    unit, cache = here.value("program_bytes") // KIB, here.value("cache_kib")
    least, log = max(min(PROGRAM_KIB), here.value("pad_bytes") // KIB), here.value("log_kib")
    for kib in (unit // 2, unit * 2):
        if least <= kib <= max(PROGRAM_KIB) and (kib <= log or not log):
            yield here.changed(program_bytes=kib * KIB, cache_kib=max(cache, kib) if cache else 0)
    if cache:
        yield here.changed(cache_reorder=1 - here.value("cache_reorder"))
        near = CACHE_KIB.index(cache) if cache in CACHE_KIB else 0
        others = {*CACHE_KIB[max(0, near - 1) : near + 2]} - {cache}
        yield from (here.changed(cache_kib=kib) for kib in sizes(unit) if kib in others)
    if here.value("slc_mib"):
        yield here.changed(slc_mib=0)
    bus = here.value(BUS)
    yield from (here.changed(bus_mb_s=rate) for rate in (bus - 1, bus + 1) if 0 < rate <= MOST_BUS)
