"""Format the comparison of two runs as text: warnings, a table for each operation, and sentences.

A sentence is as "WAL saves 3.0 syncs and 21 KiB of filesystem journal".
"""

import textwrap
from pathlib import Path

from analysis.diff import COUNTS, WHOLE, Diff
from analysis.schemas.ledger import LABELS

TITLES = {
    "fua": "FUA writes",
    "bytes": "written",
    "latency_ns": "time",
    "cpu_ns": "  CPU",
    "data_wait_ns": "  waiting for data",
    "journal_wait_ns": "  waiting for journal",
    "flush_wait_ns": "  waiting for flush",
    "other_wait_ns": "  other waiting",
}

PARTS = "time is the baseline run's, where there is one; its parts are the watched run's"
# Characters of a column of numbers.
WIDTH = 16


def table(diff: Diff) -> str:
    """Return the whole diff for a terminal of 80 columns."""
    folders = [_place(run.folder) for run in (diff.a, diff.b)]
    lines = [f"a  {folders[0]}  {diff.names[0]}", f"b  {folders[1]}  {diff.names[1]}", ""]
    for text in (*marks(diff), *sentences(diff)):
        lines += textwrap.wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)
    # a long name (a run's id) would run into its neighbour; a and b stand above it all
    heads = diff.names if max(map(len, diff.names)) < WIDTH else ("a", "b")
    for key, means in diff.means.items():
        head = "whole run, totals" if key == WHOLE else f"per {key}"
        shown = rows(means, total=key == WHOLE)
        wide = max(28, *(len(name) + 2 for name, *_ in shown)) if shown else 28
        lines += ["", f"{head:{wide}}{heads[0]:>{WIDTH}}{heads[1]:>{WIDTH}}{'b − a':>{WIDTH}}"]
        lines += [f"{name:{wide}}{a:>{WIDTH}}{b:>{WIDTH}}{change:>{WIDTH}}" for name, a, b, change in shown]
    lines += ["", PARTS]
    return "\n".join(line.rstrip() for line in lines)


def _place(folder: Path) -> Path:
    """Return the path of a run, links resolved: relative to the working directory if below it."""
    here, path = Path.cwd(), folder.resolve() if folder.is_symlink() else folder.absolute()
    return path.relative_to(here) if path.is_relative_to(here) else path


def marks(diff: Diff) -> list[str]:
    """Return the warnings that precede the numbers, a line each."""
    lines = [f"NOT COMPARABLE, forced: {reason}" for reason in diff.forced]
    if diff.unpaired:
        lines.append(f"NOT ALIGNED: {diff.unpaired} transactions have no counterpart")
    for failure, a, b in diff.durability:
        lines.append(f"DURABILITY DIFFERS: after {failure}: {diff.names[0]}: {a}; {diff.names[1]}: {b}")
    return lines + diff.profiles


def rows(means: dict[str, tuple[float, float]], total: bool = False) -> list[tuple[str, str, str, str]]:
    """Return (name, a, b, b − a) of every metric not zero in both. total: counts are integers."""
    lines = []
    for name, (a, b) in means.items():
        if not a and not b:
            continue
        unit, factor, digits = _unit(name, total)
        title = TITLES.get(name, name if name in COUNTS else f"  {name}")
        change = f"{(b - a) * factor:+,.{digits}f}".replace("-", "−")
        lines.append((title + unit, f"{a * factor:,.{digits}f}", f"{b * factor:,.{digits}f}", change))
    return lines


def _unit(metric: str, total: bool) -> tuple[str, float, int]:
    """Return (", unit", factor, digits) for a metric."""
    if metric in COUNTS:
        return "", 1.0, 0 if total else 2
    return (", ms", 1e-6, 3) if metric.endswith("_ns") else (", KiB", 1 / 1024, 1)


# Smallest differences that are mentioned.
_LEAST_COUNT, _LEAST_BYTES, _LEAST_SHARE = 0.05, 512, 0.02
_COUNTED = {"syncs": "syncs", "flushes": "flushes", "fua": "FUA writes"}


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
    for name, word in _COUNTED.items():
        a, b = means[name]
        if abs(a - b) >= (1 if total else _LEAST_COUNT):
            changes.append((a - b, f"{abs(a - b):,.0f} {word}" if total else f"{abs(a - b):.1f} {word}"))
    written = max(means["bytes"])
    labels = [(means[label][0] - means[label][1], label) for label in LABELS]
    large = [(d, label) for d, label in labels if abs(d) >= max(_LEAST_BYTES, _LEAST_SHARE * written)]
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
