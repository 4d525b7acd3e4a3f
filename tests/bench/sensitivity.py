"""A device's parameters halved, doubled: TPS of six cells; a paper's verdicts (`make bench-sensitivity`).

The commands of tests/analysis/samples are replayed on the device with the host's time between them, so what
the host does while a command lasts is not overlapped with it. With PAPER those of a paper's cells are, too:
how many of its claims then have another verdict (replayed_claims.py).
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import recorded_cells
import replayed_claims
from replayed_claims import Verdicts

from base.errors import BadInputError, LabError
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.fitting.candidate import PLAIN, TIMES, Candidate
from commitpath.fitting.experiment_lists import MIB, Facts
from images.flash_model import DRIVER

FACTORS = (0.5, 2.0)
LEAST = 0.001
# what the kernel sees, a seed, and switches have no half; spare is a share of the whole
UNCHANGED = {
    "seed",
    "block_bytes",
    "queue_depth",
    "write_cache",
    "fua",
    "exclusive",
    "rel_sectors",
    "discard",
}
UNCHANGED |= {"meta_reliable", "cache_reorder", "fill_permille", "overwrite_permille", "spare_permille"}


def variations(profile: Mapping[str, Any]) -> Iterator[tuple[str, list[Candidate]]]:
    """Yield each parameter above 0 and the device with it halved and doubled."""
    device = Candidate({**profile["geometry"], **{name: profile["timing"].get(name, 0) for name in TIMES}})
    for name in [*PLAIN, *TIMES]:
        value = device.value(name)
        if name not in UNCHANGED and value:
            yield name, [device.changed(**{name: max(1, round(value * factor))}) for factor in FACTORS]


def table(profile: Mapping[str, Any]) -> list[str]:
    """Return the lines of the table: the change of the TPS in per cent, halved / doubled."""
    geometry = profile["geometry"]
    has = {name: bool(geometry.get(name)) for name in ("write_cache", "fua", "discard")}
    facts = Facts(
        recorded_cells.SIZE, geometry["block_bytes"], has["write_cache"], has["fua"], has["discard"], 0
    )
    cells = recorded_cells.cells()
    device = Candidate({**geometry, **profile["timing"]})
    base = {name: cell.tps(device, facts) for name, cell in cells.items()}
    lines = [f"| parameter | {' | '.join(cells)} |", f"|---|{'---|' * len(cells)}"]
    lines.append(f"| TPS | {' | '.join(f'{tps:.1f}' for tps in base.values())} |")
    below, over = [], {name: [tps] for name, tps in base.items()}
    for name, devices in variations(profile):
        try:
            changes = [
                [cell.tps(other, facts) / base[of] - 1 for other in devices] for of, cell in cells.items()
            ]
        except BadInputError:
            lines.append(f"| `{name}` |{' no such device |' * len(cells)}")
            continue
        for cell, pair in zip(cells, changes, strict=True):
            over[cell] += [base[cell] * (1 + one) for one in pair if name in PLAIN]
        if max(abs(one) for pair in changes for one in pair) < LEAST:
            below.append(f"`{name}`")
            continue
        lines.append(f"| `{name}` | {' | '.join(f'{100 * a:+.1f} / {100 * b:+.1f}' for a, b in changes)} |")
    if below:
        lines.append(f"| {', '.join(below)} |{' below 0.1 |' * len(cells)}")
    spans = (f"{min(tps):.1f} to {max(tps):.1f}" for tps in over.values())
    return [*lines, f"| TPS over these geometries | {' | '.join(spans)} |"]


def verdict_table(profile: Mapping[str, Any], verdicts: Verdicts) -> list[str]:
    """Return the lines of the table of the claims that have another verdict with a parameter changed."""
    base, without = verdicts.with_device(profile), list[str]()

    def changed(device: Candidate) -> str:
        found = verdicts.with_device(device.profile(profile["size_mib"] * MIB))
        others = [name for name, verdict in found.items() if verdict != base[name]]
        return f"{len(others)}: {', '.join(others)}" if others else "0"

    lines = [f"| parameter | halved: of {len(base)} verdicts | doubled |", "|---|---|---|"]
    for name, devices in variations(profile):
        try:
            pair = [changed(device) for device in devices]
        except BadInputError:
            pair = ["no such device"] * 2
        if pair == ["0", "0"]:
            without.append(f"`{name}`")
        else:
            lines.append(f"| `{name}` | {' | '.join(pair)} |")
    return [*lines, f"| {', '.join(without)} | 0 | 0 |"] if without else lines


def main(words: list[str]) -> int:
    """Print the tables of DEVICE."""
    given = dict(word.partition("=")[::2] for word in words)
    device = axes()["device"].parse(given.get("DEVICE", "emmc-5.0"), "DEVICE")
    if (profile := load_profile("device", device))["driver"] != DRIVER:
        raise BadInputError(f"DEVICE={device}: it has no flash model; use one that has, such as emmc-5.0")
    # unknown papers first, and the runs
    verdicts = replayed_claims.recorded(given, device) if "PAPER" in given else None
    print("\n".join(table(profile)))
    if verdicts:
        print("\n".join(["", *verdict_table(profile, verdicts)]))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        print(f"commitpath: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
