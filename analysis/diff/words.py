"""Describe how two runs differ in sentences: "WAL saves 3.0 syncs and 21 KiB of filesystem journal"."""

from analysis.diff import WHOLE, Diff
from analysis.schemas.ledger import LABELS

# Smallest differences that are mentioned.
COUNT, BYTES, SHARE = 0.05, 512, 0.02
COUNTED = {"syncs": "syncs", "flushes": "flushes", "fua": "FUA writes"}


def sentences(diff: Diff) -> list[str]:
    """Return a sentence for each operation and for the whole run: b compared with a."""
    return [_sentence(diff, key) for key in diff.means]


def _sentence(diff: Diff, key: str) -> str:
    means, (a, b) = diff.means[key], diff.names
    saved, added = _changes(means, key == WHOLE)
    per = "in the whole run, the close included" if key == WHOLE else f"per {key}"
    took = _time(means["latency_ns"], key)
    if not saved and not added:
        return f"{b} and {a} ask the same of the device {per}{took}."
    parts = [f"{verb} {_join(names)}" for verb, names in (("saves", saved), ("adds", added)) if names]
    return f"{b} {', but '.join(parts)} {per}{took}."


def _changes(means: dict[str, tuple[float, float]], total: bool) -> tuple[list[str], list[str]]:
    """Return (decreases, increases) from a to b."""
    changes: list[tuple[float, str]] = []
    for name, word in COUNTED.items():
        a, b = means[name]
        if abs(a - b) >= (1 if total else COUNT):
            changes.append((a - b, f"{abs(a - b):,.0f} {word}" if total else f"{abs(a - b):.1f} {word}"))
    written = max(means["bytes"])
    labels = [(means[label][0] - means[label][1], label) for label in LABELS]
    large = [(d, label) for d, label in labels if abs(d) >= max(BYTES, SHARE * written)]
    for d, label in sorted(large, key=lambda item: -abs(item[0])):
        changes.append((d, f"{amount(abs(d))} of {label}"))
    return [text for d, text in changes if d > 0], [text for d, text in changes if d < 0]


def _time(pair: tuple[float, float], key: str) -> str:
    a, b = pair
    if not a or abs(a - b) / a < 0.005:
        return "; the time is the same"
    name = "the run" if key == WHOLE else ("an " if key[:1] in "aeiou" else "a ") + key
    more = "less" if b < a else "more"
    return f"; {name} takes {duration(abs(a - b))} {more} ({100 * (b - a) / a:+.0f} %)".replace("-", "−")


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def amount(size: float) -> str:
    """Return `size` bytes as KiB or MiB."""
    if size >= 2**20:
        return f"{size / 2**20:.1f} MiB"
    return f"{size / 1024:.{0 if size >= 10240 else 1}f} KiB"


def duration(ns: float) -> str:
    """Return `ns` as µs, ms or s with three digits."""
    for unit, factor in (("s", 1e9), ("ms", 1e6)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns / 1e3:.3g} µs"
