"""Format the comparison of two runs as text: warnings, sentences, and a table for each operation."""

from pathlib import Path

from analysis.diff import COUNTS, WHOLE, Diff, words

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
    lines += marks(diff)
    lines += words.sentences(diff)
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
