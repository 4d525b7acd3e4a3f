"""A figure's bars with what was found for each, and the marks on comparisons of unequal things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from base.errors import LabError
from commitpath.cells.axes import axes
from commitpath.charts.model import Bar, Drawn, Panel, Stated, Value
from commitpath.results.marks import UNCOUNTED, UNDURABLE
from commitpath.results.query import Found, Number, Results
from model import durability, engines
from model.engines.survival import ALL, CORRUPT, LAST, RARELY_CORRUPT, RECENT, UNSYNCED

SHORT = {
    ALL: "nothing committed is lost",
    LAST: "the last transaction may be lost",
    RECENT: "transactions since the last checkpoint may be lost",
    UNSYNCED: "transactions of the last seconds may be lost",
    RARELY_CORRUPT: "the last transaction may be lost, a very small chance of corruption",
    CORRUPT: "the database may be corrupt",
}


def fill(panel: Panel, results: Results, beside: Panel | None = None) -> Drawn:
    """Look a panel's cells up. beside: the same panel of the virtual board, to stand next to it."""
    lacking = 0
    if beside:
        states = [results.find(bar.cell).state for bar in beside.bars]
        there = [state == "ok" for state in states]
        lacking = states.count("missing") + states.count("failed")
        bars = [
            bar
            for own, other, known in zip(panel.bars, beside.bars, there, strict=True)
            for bar in (own, *([replace(other, outlined=True)] if known else []))
        ]
        panel = replace(panel, bars=tuple(bars))
    values = [value_of(bar, panel.metric, results) for bar in panel.bars]
    by_bar = {value.bar: value for value in values}
    values = [replace(one, marks=unequal(one, by_bar[base_of(panel, one.bar)])) for one in values]
    stated = [made for entry in panel.stated for made in of_entry(entry, values)]
    return Drawn(panel, tuple(values), tuple(stated), lacking)


def value_of(bar: Bar, metric: str, results: Results) -> Value:
    """What was found for a bar. A cell whose runs have no such number is missing, with the reason."""
    found = results.find(bar.cell, *bar.seeds)
    try:
        number = found.number(metric, bar.op)
    except LabError as error:
        found, number = Found("missing", str(error), (), found.runs, found.grids), Number()
    causes = results.causes(bar.cell, bar.op)
    return Value(bar, found, number, found.transactions(bar.op), causes, ())


def base_of(panel: Panel, bar: Bar) -> Bar:
    """The bar that a bar is read against: the panel's base, in the same build and reading if it has them."""
    same_place = [one for one in panel.bars if place(one) == panel.base]
    first = [one for one in same_place if one.board == bar.board] or same_place
    alike = [one for one in first if one.look == bar.look]
    same_build = [one for one in first if one.build == bar.build]
    return [*alike, *same_build, *first][0]


def unequal(a: Value, b: Value) -> tuple[str, ...]:
    """Marks of what is unequal between two values: durability, number of transactions."""
    survives = (durability.promised(value.bar.cell) for value in (a, b))
    marks = [UNDURABLE] if durability.differences(*survives) else []
    counts = {a.transactions, b.transactions} - {None}
    return tuple([*marks, UNCOUNTED] if len(counts) > 1 else marks)


def of_entry(entry: Mapping[str, Any], values: list[Value]) -> Iterator[Stated]:
    """A number of the paper at each bar that it is about; a ratio over each reading of the other bar."""
    for value in values:
        bar = value.bar
        if bar.group != entry["at"] or bar.series != entry.get("series", bar.series):
            continue
        if "value" in entry:
            yield Stated(bar, float(entry["value"]), None, None, None, (), entry["source"])
            continue
        series = entry.get("over_series", bar.series)
        others = [
            one
            for one in values
            if (one.bar.group, one.bar.series, one.bar.build, one.bar.board)
            == (entry["over"], series, bar.build, bar.board)
        ]
        for other in [one for one in others if one.bar.reading == bar.reading] or others:
            tps, ours = None, None
            if other.number.value:
                tps = other.number.value * float(entry["ratio"])
                ours = value.number.value / other.number.value if value.number.value else None
            ratio = float(entry["ratio"])
            yield Stated(bar, tps, ratio, ours, other.bar, unequal(value, other), entry["source"])


def footnotes(drawn: list[Drawn], notes: list[str]) -> list[str]:
    """What the signs in a figure mean, and why a bar is not there."""
    values = [value for one in drawn for value in one.values]
    said = [*notes, *intervals(values)]
    if any(UNDURABLE in value.marks for value in values):
        bases = [value.bar for one in drawn for value in one.values if place(value.bar) == one.panel.base]
        read = ", ".join(dict.fromkeys(settings(bar) for bar in bases))
        said.append(f"{UNDURABLE} another durability than its panel's base ({read}). {survival(values)}.")
    if any(UNCOUNTED in value.marks for value in values):
        numbers = sorted({value.transactions for value in values if value.transactions})
        counts = ", ".join(f"{number:,}" for number in numbers)
        said.append(f"{UNCOUNTED} another number of transactions than its panel's base: {counts}.")
    for state in ("excluded", "failed", "missing"):
        reasons = sorted({str(value.found.reason) for value in values if value.found.state == state})
        if reasons:
            said.append(f"{SIGNS[state]}: {'; '.join(reasons)}.")
    return said


def intervals(values: list[Value]) -> Iterator[str]:
    """What the whiskers of each board with a clock of its own are, and which of its cells have none."""
    own = [value for value in values if value.found.runs and value.bar.cell.clock != "virtual"]
    for board in dict.fromkeys(value.bar.board for value in own):
        counts = [len(value.found.runs) for value in own if value.bar.board == board]
        several = sorted({number for number in counts if number > 1})
        if several:
            of = " to ".join(dict.fromkeys(str(number) for number in (several[0], several[-1])))
            yield (
                f"{board}: medians; a whisker, in a table ±, is the 95 % interval of the mean of {of} runs "
                "(Student's t)."
            )
        if ones := counts.count(1):
            of = "each value" if ones == len(counts) else f"{ones} of {len(counts)} values"
            yield f"{board}: {of} is of one run, so without an interval (REPEAT=3 gives one)."


SIGNS = {"excluded": "n/a", "failed": "failed", "missing": "missing"}


def survival(values: list[Value]) -> str:
    """What survives a power failure, for each journal mode and sync mode of a figure."""
    texts: dict[str, dict[str, None]] = {}
    for value in values:
        power = dict(durability.promised(value.bar.cell).rows())["a power failure"]
        texts.setdefault(SHORT[power], {})[settings(value.bar)] = None
    return "After a power failure: " + "; ".join(f"{', '.join(who)}: {text}" for text, who in texts.items())


def settings(bar: Bar) -> str:
    """`WAL/FULL`: the settings that durability depends on; of another engine its name, and its own that are
    not at their default."""
    engine = str(bar.cell.engine)
    if not engines.unused_axes(engine) & {"journal_mode", "synchronous"}:
        return f"{bar.cell.journal_mode}/{bar.cell.synchronous}".upper()
    requested = engines.by_name(engine).requested(bar.cell)
    known = axes()
    own = [f"{name}={v}" for name, v in requested.items() if v != known[name].spec["default"]]
    return " ".join([engine.upper(), *own])


def place(bar: Bar) -> tuple[str, str]:
    """Where a bar stands, but for its build and reading."""
    return bar.group, bar.series
