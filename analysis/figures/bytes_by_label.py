"""`make ledger`: draw KiB by label and flushes per transaction of runs that differ in MODE and FS only.

A folder of results may replace the runs. Then the newest accepted run of each cell is drawn, if it differs
from the newest accepted run of all in mode and filesystem only.
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from analysis.figures import bars, style
from analysis.run_files import stored
from analysis.run_files.stored import Stored
from analysis.stats import totals
from base.errors import FileError
from base.text import printable
from model import engines
from model.cell import Cell

# bytes or flushes that belong to no transaction, divided by the number of transactions
NONE = {"no transaction": "#B0B0B0"}
FLUSHES = {**style.FILES, "no sync": "#101010", **NONE}
# Share of the longest bar. A kind without a larger piece is not in the legend.
VISIBLE = 0.0025
MODES = ("delete", "truncate", "persist", "memory", "off", "wal")


@dataclass(frozen=True)
class Bar:
    """One bar: an analysed run."""

    folder: Path
    cell: Cell
    ledger: dict[str, Any]
    # per transaction, over all the device got; None where not counted
    flushes: float | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The cell's mode and filesystem; the engine's name if it has no modes."""
        engine = self.cell.engine
        mode = engine if "journal_mode" in engines.unused_axes(engine) else str(self.cell.journal_mode)
        return mode, str(self.cell.fs)

    @property
    def rest(self) -> str:
        """All of the cell except mode and filesystem, as text."""
        axes = {key: value for key, value in self.cell.axes() if key not in ("journal_mode", "fs")}
        profiles = {key: value for key, value in self.cell.profiles.items() if key != "fs"}
        return json.dumps([axes, profiles], sort_keys=True)


def bar_of(run: Stored) -> Bar:
    """Return the bar of an analysed run. Raises FileError if it was rejected or has no ledger."""
    if (status := run.summary.get("status")) != "ok":
        raise FileError(run.folder, "", f"a run that is {status}", "an accepted run")
    made = run.summary.get("ledger") or {}
    if not {"per_transaction", "flushes_per_transaction"} <= set(made):
        raise FileError(run.folder / "summary.json", "", "no ledger", "a run with all probes, analysed again")
    return Bar(run.folder, run.cell, made, totals.per_transaction(run.summary)["flushes"])


def differing(bar: Bar, other: Bar) -> list[str]:
    """Return `axis=value` of a bar for each axis, except mode and filesystem, in which the other differs."""
    axes, others = dict(bar.cell.axes()), dict(other.cell.axes())
    return [
        f"{key}={axes.get(key) or '-'}"
        for key in dict.fromkeys((*axes, *others))
        if key not in ("journal_mode", "fs") and axes.get(key) != others.get(key)
    ]


def newest(results: Path) -> tuple[list[Bar], Counter[str]]:
    """Return the newest accepted run of each cell that differs in mode and filesystem only.

    Also returns the reasons for excluding other runs, with the number of runs. A run that changed since its
    analysis is reported on stderr.
    """
    bars_found: list[Bar] = []
    left: Counter[str] = Counter()
    for path in sorted(results.glob("*/*/summary.json"), key=lambda path: path.parent.name, reverse=True):
        try:
            run = stored.read_named(path.parent)
        except FileError as error:
            print(f"commitpath: left out: {error}", file=sys.stderr)
            continue
        try:
            bar = bar_of(run)
        except FileError as error:
            left[error.wrong] += 1
            continue
        if bars_found and bar.rest != bars_found[0].rest:
            axes = ", ".join(differing(bar, bars_found[0])) or "another content of a profile"
            left[
                f"{axes}, unlike the newest run ({', '.join(differing(bars_found[0], bar)) or 'its own'})"
            ] += 1
        elif bar.place in [other.place for other in bars_found]:
            left["a newer run of the same cell is drawn"] += 1
        else:
            bars_found.append(bar)
    if not bars_found:
        reasons = "".join(f"; {number}: {why}" for why, number in left.items())
        raise FileError(
            results, "", f"no accepted run with its files and a ledger{reasons}", "make experiment first"
        )
    return bars_found, left


def given(folders: list[Path]) -> list[Bar]:
    """Return the bars of the runs. Raises FileError if they differ in more than mode and filesystem."""
    runs = [bar_of(stored.read_named(folder)) for folder in folders]
    for bar in runs[1:]:
        if bar.rest != runs[0].rest:
            what = ", ".join(differing(bar, runs[0])) or "another profile"
            raise FileError(bar.folder, "", f"{what}, unlike {runs[0].folder}", "only MODE and FS may differ")
        if bar.place in [other.place for other in runs[: runs.index(bar)]]:
            raise FileError(bar.folder, "", f"a second run of {' '.join(bar.place)}", "one run of each cell")
    return runs


def ordered(unordered: list[Bar]) -> list[Bar]:
    """Return the bars in the order of the figure, from the top."""
    return sorted(
        unordered, key=lambda bar: (MODES.index(bar.place[0]) if bar.place[0] in MODES else 99, bar.place)
    )


def render(order: list[Bar], path: Path) -> None:
    """Draw the figure."""
    names = ["  ".join(bar.place) for bar in order]
    written = _table(order, names, "per_transaction", 1 / 1024)
    flushed = _table(order, names, "flushes_per_transaction", 1)
    made = style.figure(1.5 + 0.32 * len(order))
    left, right = made.subplots(1, 2, width_ratios=(3, 2))
    _panel(left, written, names, style.LABELS | NONE, "KiB written per transaction", 1)
    _panel(right, flushed, names, FLUSHES, "flushes per transaction, by the file synced", 2)
    right.set_yticklabels([])
    style.save(made, path)


def _panel(
    axes: Axes, table: pl.DataFrame, names: list[str], colors: dict[str, str], title: str, digits: int
) -> None:
    bars.stacked(axes, table, names, "value", colors, digits)
    axes.set_xlabel(title)
    longest = pl.col("value").sum().over("op").max()
    bars.legend(axes, table.filter(pl.col("value") > longest * VISIBLE), colors, columns=2)


def _table(order: list[Bar], names: list[str], key: str, factor: float) -> pl.DataFrame:
    """Return op (the bar), kind, value: means over all transactions of each run."""
    rows = [
        {"op": name, "kind": kind, "value": value * factor}
        for name, bar in zip(names, order, strict=True)
        for kind, value in _values(bar, key).items()
    ]
    return pl.DataFrame(rows, schema={"op": pl.String, "kind": pl.String, "value": pl.Float64})


def _values(bar: Bar, key: str) -> dict[str, float]:
    """Return a bar's values by kind."""
    values: dict[str, float] = dict(bar.ledger[key].get("all", {}))
    nobody = bar.ledger["no_transaction"]["per_transaction"]
    if key == "flushes_per_transaction":
        nobody = None if bar.flushes is None else max(bar.flushes - sum(values.values()), 0.0)
    return values if nobody is None else values | dict.fromkeys(NONE, nobody)


def main(path: Path, folders: list[Path]) -> None:
    """Draw the figure of some runs or of a folder of results. Raises FileError."""
    whole = len(folders) == 1 and not (folders[0] / "cell.json").is_file()
    chosen, left = newest(folders[0]) if whole else (given(folders), Counter[str]())
    chosen = ordered(chosen)
    render(chosen, path)
    for bar in chosen:
        unattributed, none = bar.ledger["unattributed_share"], bar.ledger["no_transaction"]["share"]
        shares = f"{unattributed:.3%} unattributed, {none:.3%} for no transaction"
        print(printable(f"{'  '.join(bar.place)}: {shares}, {bar.folder}"))
    for why, number in left.most_common():
        print(printable(f"left out: {number} run{'s' * (number != 1)}: {why}"))
    print(f"figure: {path}")
