"""What a transaction writes and flushes, by kind, over journal modes and filesystems.

Of several runs: python -m analysis.figures.ledger OUT.svg|png|pdf RUN_DIR...; with a folder of
results in the place of runs, the newest good run of each cell that differs from that of the
newest good run of all in mode and filesystem only.
"""

from __future__ import annotations

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
from base.errors import BadInput
from base.text import printable
from model import engines
from model.cell import Cell

SUFFIXES = (".svg", ".png", ".pdf")
# what was written, or flushed, for no transaction, over the number of transactions
NONE = {"no transaction": "#B0B0B0"}
FLUSHES = {**style.FILES, "no sync": "#101010", **NONE}
# Of the longest bar: a piece of a pixel. A kind without a larger one is not in the legend.
VISIBLE = 0.0025
MODES = ("delete", "truncate", "persist", "memory", "off", "wal")


@dataclass(frozen=True)
class Bar:
    """A run and what it is a bar of."""

    folder: Path
    cell: Cell
    ledger: dict[str, Any]
    # per transaction, of all that the device was given; None where nobody counted them
    flushes: float | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The cell's mode and filesystem; of an engine without modes its name."""
        engine = self.cell.engine
        mode = engine if "journal_mode" in engines.lacking(engine) else str(self.cell.journal_mode)
        return mode, str(self.cell.fs)

    @property
    def rest(self) -> str:
        """All of the cell but mode and filesystem, as text."""
        own = {key: value for key, value in self.cell.axes() if key not in ("journal_mode", "fs")}
        profiles = {key: value for key, value in self.cell.profiles.items() if key != "fs"}
        return json.dumps([own, profiles], sort_keys=True)


def bar_of(run: Stored) -> Bar:
    """Return the bar of an analysed run. Raises BadInput for one that is rejected or has no ledger."""
    if (status := run.summary.get("status")) != "ok":
        raise BadInput(run.folder, "", f"a run that is {status}", "one that counts")
    made = run.summary.get("ledger") or {}
    if not {"per_transaction", "flushes_per_transaction"} <= set(made):
        raise BadInput(run.folder / "summary.json", "", "no ledger", "a run with all probes, analysed again")
    return Bar(run.folder, run.cell, made, totals.per_transaction(run.summary)["flushes"])


def differing(bar: Bar, other: Bar) -> list[str]:
    """Return `axis=value` of a bar for each axis but mode and filesystem in which another differs."""
    here, there = dict(bar.cell.axes()), dict(other.cell.axes())
    return [
        f"{key}={here.get(key) or '-'}"
        for key in dict.fromkeys((*here, *there))
        if key not in ("journal_mode", "fs") and here.get(key) != there.get(key)
    ]


def newest(results: Path) -> tuple[list[Bar], Counter[str]]:
    """Return the newest good run of each cell that differs in mode and filesystem only, and the reasons why
    others are left out, with the number of runs.

    One that is not as its analysis left it is named on stderr.
    """
    found: list[Bar] = []
    left: Counter[str] = Counter()
    for path in sorted(results.glob("*/*/summary.json"), key=lambda path: path.parent.name, reverse=True):
        try:
            run = stored.read_named(path.parent)
        except BadInput as error:
            print(f"commitpath: left out: {error}", file=sys.stderr)
            continue
        try:
            bar = bar_of(run)
        except BadInput as error:
            left[error.wrong] += 1
            continue
        if found and bar.rest != found[0].rest:
            axes = ", ".join(differing(bar, found[0])) or "another content of a profile"
            left[f"{axes}, unlike the newest run ({', '.join(differing(found[0], bar)) or 'its own'})"] += 1
        elif bar.place in [one.place for one in found]:
            left["a newer run of the same cell is drawn"] += 1
        else:
            found.append(bar)
    if not found:
        reasons = "".join(f"; {number}: {why}" for why, number in left.items())
        raise BadInput(results, "", f"no good run with a ledger{reasons}", "make experiment first")
    return found, left


def given(folders: list[Path]) -> list[Bar]:
    """Return the bars of runs. Raises BadInput if they differ in more than mode and filesystem."""
    found = [bar_of(stored.read_named(folder)) for folder in folders]
    for bar in found[1:]:
        if bar.rest != found[0].rest:
            what = ", ".join(differing(bar, found[0])) or "another profile"
            raise BadInput(bar.folder, "", f"{what}, unlike {found[0].folder}", "only MODE and FS may differ")
        if bar.place in [one.place for one in found[: found.index(bar)]]:
            raise BadInput(bar.folder, "", f"a second run of {' '.join(bar.place)}", "one run of each cell")
    return found


def ordered(found: list[Bar]) -> list[Bar]:
    """Return the bars as the figure has them, from the top."""
    return sorted(
        found, key=lambda bar: (MODES.index(bar.place[0]) if bar.place[0] in MODES else 99, bar.place)
    )


def render(order: list[Bar], path: Path) -> None:
    """Draw the figure. Raises BadInput for a suffix that is not one of SUFFIXES."""
    if path.suffix not in SUFFIXES:
        raise BadInput(path, "", f"the suffix {path.suffix!r}", " or ".join(SUFFIXES))
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
    bars.legend(axes, table.filter(pl.col("value") > _longest(table) * VISIBLE), colors, columns=2)


def _longest(table: pl.DataFrame) -> float:
    """Return the length of the longest bar."""
    return max(table.group_by("op").agg(pl.col("value").sum())["value"].to_list(), default=0.0)


def _table(order: list[Bar], names: list[str], key: str, factor: float) -> pl.DataFrame:
    """Return op (the bar), kind, value: means over all transactions of each run."""
    rows = [
        {"op": name, "kind": kind, "value": value * factor}
        for name, bar in zip(names, order, strict=True)
        for kind, value in _values(bar, key).items()
    ]
    return pl.DataFrame(rows, schema={"op": pl.String, "kind": pl.String, "value": pl.Float64})


def _causes(ledger: dict[str, Any]) -> str:
    """Say which share of the bytes has no label, and which no transaction."""
    shares = {
        "unattributed": ledger["unattributed_share"],
        "for no transaction": ledger["no_transaction"]["share"],
    }
    return "".join(f"{share:.3%} {what}, " for what, share in shares.items())


def _values(bar: Bar, key: str) -> dict[str, float]:
    """Return kind → value of a bar."""
    found: dict[str, float] = dict(bar.ledger[key].get("all", {}))
    nobody = bar.ledger["no_transaction"]["per_transaction"]
    if key == "flushes_per_transaction":
        nobody = None if bar.flushes is None else max(bar.flushes - sum(found.values()), 0.0)
    return found if nobody is None else found | dict.fromkeys(NONE, nobody)


def main(arguments: list[str]) -> int:
    """Run the command line and return its exit status: 0, 2 wrong usage, 3 bad input."""
    if len(arguments) < 2:
        print("usage: python -m analysis.figures.ledger OUT RUN_DIR... | OUT RESULTS_DIR", file=sys.stderr)
        return 2
    path, *folders = map(Path, arguments)
    try:
        whole = len(folders) == 1 and not (folders[0] / "cell.json").is_file()
        found, left = newest(folders[0]) if whole else (given(folders), Counter[str]())
        found = ordered(found)
        render(found, path)
    except BadInput as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    for bar in found:
        print(printable(f"{'  '.join(bar.place)}: {_causes(bar.ledger)}{bar.folder}"))
    for why, number in left.most_common():
        print(printable(f"left out: {number} run{'s' * (number != 1)}: {why}"))
    print(f"figure: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
