"""Write a fitted device profile as YAML with the origin of each value; write other fits as variants of it."""

import json
import textwrap
from dataclasses import dataclass

from commitpath.fitting.candidate import HOST_KIB, PLAIN, TIMES, Candidate
from commitpath.fitting.device_fit import Result
from commitpath.fitting.experiment_lists import KIB, MIB, SPAN, SUSTAINED_MIB, Facts
from commitpath.fitting.joint_fit import BUS
from commitpath.fitting.neighbours import CACHE_KIB, PROGRAM_KIB
from commitpath.fitting.structure import LEAST_SLC_MIB, MOST_DIES, MOST_OPEN, PAGES_KIB, UNITS_KIB
from model import devices

WIDTH = 100
# an interval as wide as this around a time decides nothing, unless all of it is small
WIDE = 1.5
SMALL_NS = 2000
# the largest device of a board's memory that the other profiles have
MOST_MIB = 2048

OF_KERNEL = {"block_bytes", "write_cache", "fua", "discard"}
# what DEVICE_STATE=used needs of a device that maps pages, as the other profiles have it
GC = {"gc_blocks": 8, "erase_ns": 3_000_000}
ASSUMED = {
    "queue_depth": "one command at a time was sent",
    **dict.fromkeys(GC, "garbage collection needs several writes of the whole device, not of a partition"),
}
NOT_MEASURED = {
    "exclusive": "makes no difference with one command at a time",
    "rel_sectors": "what the host's driver sends for a FUA write is not seen from it",
    "meta_reliable": "what the host's driver does with REQ_META is not seen from it",
    "erase_kib": "hangs on garbage collection only",
    "spare_permille": "hangs on garbage collection only",
    "gc_blocks": "allocation units are merged instead",
    "fill_permille": "fresh; DEVICE_STATE sets another",
    "overwrite_permille": "fresh; DEVICE_STATE sets another",
    "undo_kib": "KiB of unflushed writes that can be undone; not a device property",
    "seed": "any; only the spread of merges and power cuts are random",
    "read_command_ns": "command_ns holds for a read",
}
# a parameter, and the one without which the device does not have it
NEEDS = {
    "cache_reorder": "cache_kib", "flush_dirty_ns": "cache_kib", "flush_dirty_kib_ns": "cache_kib",
    "flush_clean_ns": "write_cache", "fua_ns": "fua", "discard_ns": "discard", "unit_kib": "open_units",
    "log_kib": "open_units", "merge_ns": "open_units", "merge_spread_ns": "open_units",
    "erase_ns": "open_units", "slc_program_ns": "slc_mib", "pad_bytes": "log_kib",
}  # fmt: skip


# the largest value that is tried: a device that has more looks like it
LARGEST = {
    "read_bytes": max(PAGES_KIB) * KIB, "dies": MOST_DIES, "program_bytes": max(PROGRAM_KIB) * KIB,
    "cache_kib": max(CACHE_KIB), "open_units": MOST_OPEN, "unit_kib": max(UNITS_KIB),
}  # fmt: skip
# where it was looked for, of what a device may have beyond
LOOKED = {
    "open_units": f"in units of {min(UNITS_KIB)} to {max(UNITS_KIB)} KiB, a power of two or three times one",
    "map_kib": f"in reads over {SPAN // MIB} MiB",
    "slc_mib": f"of {LEAST_SLC_MIB} MiB or more in {SUSTAINED_MIB} MiB of writes",
}
# more values are shown as a range
FEW = 4
# no measurement has it; the other profiles have it from data sheets
ENDURANCE = (
    "# For the years of `make advise`, fill in and take out the marks: gb, 10^9 bytes of the device; cycles,",
    "# how often all of it may be written: the data sheet's TBW * 1000 / gb, or its program/erase cycles.",
    "# endurance:",
    "#   gb:",
    "#   cycles:",
)


@dataclass(frozen=True)
class Source:
    """A measurement of the device that `make calibrate` compares the profile with."""

    measure: str
    value: float
    unit: str
    at: int | None = None


def unidentified(result: Result) -> dict[str, tuple[int, ...]]:
    """Return what the measurement does not decide: an interval, or the values that fit as well."""
    found = {
        name: tuple(sorted({*others, result.candidate.value(name)})) for name, others in result.alike.items()
    }
    for name, most in LARGEST.items():
        if result.candidate.value(name) == most:
            found.setdefault(name, (most,))
    for name, (low, high) in result.intervals.items():
        if high > SMALL_NS and high > WIDE * low:
            found[name] = (round(low), round(high))
    return found


def as_good(name: str, result: Result) -> str:
    """Return the values of a part of the structure that fit as well, in words."""
    values = unidentified(result)[name]
    shown = list(map(str, values))
    if len(values) > FEW:
        shown = [f"{len(values)} values from {values[0]} to {values[-1]}"]
    return " or ".join([*([", ".join(shown[:-1])] if shown[:-1] else []), shown[-1]]) + (
        " or more" if values[-1] == LARGEST.get(name) else ""
    )


def assumed(fitted: Candidate) -> dict[str, int]:
    """Return the parameters that the profile of a device has without a measurement."""
    depth = {"queue_depth": fitted.value("queue_depth")}
    return depth if fitted.value("open_units") else {**depth, **GC}


def origin(name: str, result: Result, facts: Facts) -> str:
    """Return where a parameter is from, for its comment."""
    needs = NEEDS.get(name)
    if name in assumed(result.candidate):
        return f"not measured, assumed: {ASSUMED[name]}"
    if name in OF_KERNEL:
        return "as the kernel of the measured device reports it"
    if name in NOT_MEASURED:
        return f"not measured: {NOT_MEASURED[name]}"
    if needs and not result.candidate.value(needs):
        return f"not used: no {needs}"
    return decided(name, result, facts)


def decided(name: str, result: Result, facts: Facts) -> str:
    """Return what the measurement decides of a parameter."""
    text = ""
    if name in result.intervals:
        low, high = (round(value) for value in result.intervals[name])
        text = f": {low} to {high} with 95 % confidence"
        if name == "command_ns":
            text += f", with {facts.host_ns} ns for the host: only their sum is measured"
        if name == BUS:
            text += f", with {result.candidate.value(HOST_KIB)} ns of the host for each KiB"
    elif not result.candidate.value(name) and name != "cache_reorder":
        text = f": none was found {LOOKED.get(name, '')}".rstrip()
    undecided = unidentified(result)
    if name in undecided and name not in result.intervals:
        text = f": {as_good(name, result)} fit as well"
    return ("not decided by the measurement" if name in undecided else "measured") + text


def place(result: Result) -> str:
    """Return where the measured partition begins in a unit, in words; empty if with one."""
    if not result.candidate.value("open_units") or not result.candidate.phase:
        return ""
    return (
        f"The measured partition begins {result.candidate.phase // KIB} KiB after the begin of a unit; this "
        "profile's device begins with a unit."
    )


def comment(text: str, indent: str = "") -> list[str]:
    """Return a comment of lines."""
    return textwrap.wrap(text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def text(
    name: str, described: str, result: Result, facts: Facts, sources: list[Source], origin_of: str
) -> str:
    """Return the profile. described: its description; origin_of: the text of each source."""
    lines = [
        f"description: {json.dumps(described, ensure_ascii=False)}",
        f"driver: {devices.with_model()}",
        f"size_mib: {min(MOST_MIB, facts.size_bytes // MIB)}",
    ]
    lines += comment(
        f"Made by `make profile NAME={name}` from a measurement. "
        f"images/devices/{devices.with_model()}/README.md explains the parameters. "
        f"A cell of the fit costs {result.cost_of_a_cell:.2f}; about 0.5 is expected of a "
        f"device that behaves like the model. {place(result)}"
    )
    given = assumed(result.candidate)
    for part, names in (("geometry", PLAIN), ("timing", TIMES)):
        lines.append(f"{part}:")
        for parameter in names:
            lines += comment(origin(parameter, result, facts), "  ")
            lines.append(f"  {parameter}: {given.get(parameter, result.candidate.value(parameter))}")
    lines += [*ENDURANCE, "sources:"]
    for source in sources:
        lines += [f"  - measure: {source.measure}"]
        lines += [f"    at: {source.at}"] if source.at is not None else []
        lines += [
            f"    value: {source.value:.6g}",
            f"    unit: {source.unit}",
            f"    source: {json.dumps(origin_of, ensure_ascii=False)}",
        ]
    return "\n".join(lines) + "\n"


def other_text(like: str, part: tuple[str, int], result: Result, other: Candidate, facts: Facts) -> str:
    """Return the profile of another fit: what differs from the profile that it is like."""
    name, value = part
    was = f"{name} {value} in place of {result.candidate.value(name)}"
    described = json.dumps(f"{like} with {was}, which fits as well", ensure_ascii=False)
    lines = [f"description: {described}", f"like: {like}"]
    for place, names in (("geometry", PLAIN), ("timing", TIMES)):
        changed = [one for one in names if other.value(one) != result.candidate.value(one)]
        lines += [f"{place}:"] if changed else []
        for one in changed:
            lines += comment(decided(one, result, facts) if one == name else f"fitted with {was}", "  ")
            lines.append(f"  {one}: {other.value(one)}")
    return "\n".join(lines) + "\n"
