"""Judge a faulty recording as noticed, harmless or missed by what is reported of it and of the sound one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis import pipeline
from analysis.schemas.ledger import LABELS, WAITS

# Shares that are reported as the sound run's: of all bytes written, of the transactions' time, of a number.
BYTES, TIME, NUMBER = 0.001, 0.01, 0.01
_BYTES, _TIMES = (*LABELS, "for_others", "deferred"), ("latency_ns", "cpu_ns", *WAITS)
UNKNOWN = "for none unknown"
_NUMBERS = ("tps", "latency_us", "syncs", "block", "per_transaction", "unchanged")


@dataclass(frozen=True)
class Reported:
    """What the analysis reports of a run."""

    reasons: frozenset[str]  # for which it is rejected
    numbers: dict[str, float]
    bytes: dict[str, float]  # of the whole run, by label, and by why they are for no transaction
    costs: pl.DataFrame  # by transaction
    settings: Any


def reported(folder: Path) -> Reported:
    """Analyse a run. Raises FileError."""
    run, _, manifest, summary = pipeline.recompute(folder)
    ledger = summary["ledger"]
    return Reported(
        frozenset(summary["reasons"]),
        _flat({name: summary[name] for name in _NUMBERS}),
        _flat({"label": ledger["bytes"], "for none": ledger["no_transaction"]["by"]}) if ledger else {},
        run.ledger.costs if run.ledger else pl.DataFrame(),
        (summary["cell_id"], [(one["name"], one["effective"]) for one in manifest["settings"]]),
    )


def _flat(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of nested objects, by the words that lead to them."""
    flat: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= {f"{name} {rest}": number for rest, number in _flat(value).items()}
        elif value is not None:
            flat[name] = value
    return flat


def changes(sound: Reported, faulty: Reported) -> dict[str, float]:
    """Return what is reported otherwise, as multiples of its limit."""
    if sound.costs.shape != faulty.costs.shape:
        return {"the number of transactions": float("inf")}
    found = {"settings": 0.0 if sound.settings == faulty.settings else float("inf")}
    for name in {*sound.numbers, *faulty.numbers}:
        was, now = sound.numbers.get(name, 0), faulty.numbers.get(name, 0)
        found[name] = abs(now - was) / max(abs(was), abs(now), 1e-9) / NUMBER
    size = sum(number for name, number in sound.bytes.items() if name.startswith("label "))
    moved = {
        name: faulty.bytes.get(name, 0) - sound.bytes.get(name, 0) for name in {*sound.bytes, *faulty.bytes}
    }
    unknown = max(0, moved.pop(UNKNOWN, 0))  # is reported as such: what moved there is not wrong
    for name, more in moved.items():
        found[name] = max(more, -more - unknown) / size / BYTES
    time = sound.costs["latency_ns"].sum()
    for columns, whole, limit in ((_BYTES, size, BYTES), (_TIMES, time, TIME)):
        for name in columns:
            differs = (sound.costs[name] - faulty.costs[name]).abs().sum()
            found[f"{name} of transactions"] = differs / whole / limit
    return found


def verdict(sound: Reported, faulty: Reported) -> tuple[str, str]:
    """Return the verdict of a faulty recording that could be analysed, and why."""
    if reasons := faulty.reasons - sound.reasons:
        return "noticed", sorted(reasons)[0]
    name, times = max(changes(sound, faulty).items(), key=lambda item: item[1])
    return ("missed" if times > 1 else "harmless"), f"{name}: {times:.1f} times its limit"
