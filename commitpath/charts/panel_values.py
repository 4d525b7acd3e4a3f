"""Look up a chart's values in stored runs, mark unequal comparisons, and write the footnotes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from base.errors import LabError
from commitpath.cells.axes import axes
from commitpath.charts.model import Bar, Drawn, Panel, Stated, Value, values_of
from commitpath.results.marks import MARKED, UNCOUNTED, UNDURABLE
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


def fill(panel: Panel, results: Results, virtual: Panel | None = None, marked: bool = True) -> Drawn:
    """Look up the values of a panel. virtual: the same panel of the virtual board, drawn next to it.

    marked: whether values get the marks of inequalities, next to the mark of their runs.
    """
    lacking = 0
    if virtual:
        states = [results.find(bar.cell).state for bar in virtual.bars]
        lacking = states.count("missing") + states.count("failed")
        bars = [
            bar
            for own, other, state in zip(panel.bars, virtual.bars, states, strict=True)
            for bar in (own, *([replace(other, outlined=True)] if state == "ok" else []))
        ]
        panel = replace(panel, bars=tuple(bars))
    values = [value_of(bar, panel.metric, results) for bar in panel.bars]
    by_bar = {value.bar: value for value in values}
    if marked:
        values = [
            replace(value, marks=(*value.marks, *unequal(value, by_bar[base_of(panel, value.bar)])))
            for value in values
        ]
    stated = [made for entry in panel.stated for made in of_entry(entry, values)]
    return Drawn(panel, tuple(values), tuple(stated), lacking)


def value_of(bar: Bar, metric: str, results: Results) -> Value:
    """Return the value of a bar. A cell with runs but without the number is missing, with the reason."""
    found = results.find(bar.cell, *bar.samples)
    try:
        number = found.number(metric, bar.op)
    except LabError as error:
        found, number = Found("missing", str(error), (), found.runs, found.grids), Number()
    causes = results.causes(bar.cell, bar.op)
    marks = (MARKED,) if any(run.marks for run in found.runs) else ()
    return Value(bar, found, number, found.transactions(bar.op), causes, marks)


def base_of(panel: Panel, bar: Bar) -> Bar:
    """Return the bar to compare a bar with: the panel's base, if possible in its build and reading.

    Without a bar there it is the bar itself, from which nothing differs.
    """
    places = [other for other in panel.bars if other.place == panel.base]
    return min(
        places,
        key=lambda other: (other.board != bar.board, other.look != bar.look, other.build != bar.build),
        default=bar,
    )


def unequal(a: Value, b: Value) -> tuple[str, ...]:
    """Return the marks of inequalities between two values: durability, number of transactions."""
    survives = (durability.promised(value.bar.cell) for value in (a, b))
    marks = [UNDURABLE] if durability.differences(*survives) else []
    counts = {a.transactions, b.transactions} - {None}
    return tuple([*marks, UNCOUNTED] if len(counts) > 1 else marks)


def of_entry(entry: Mapping[str, Any], values: list[Value]) -> Iterator[Stated]:
    """Yield a number of the paper at each of its bars; a ratio for each reading of the other bar."""
    for value in values:
        bar = value.bar
        if bar.group != entry["at"] or bar.series != entry.get("series", bar.series):
            continue
        if "value" in entry:
            yield Stated(bar, float(entry["value"]), None, None, None, (), entry["source"])
            continue
        place = (entry["over"], entry.get("over_series", bar.series))
        there = [value for value in values if (value.bar.place, value.bar.board) == (place, bar.board)]
        # engines of two releases are compared as they are
        others = [value for value in there if value.bar.build == bar.build] or there
        for other in [value for value in others if value.bar.reading == bar.reading] or others:
            ratio, base = float(entry["ratio"]), other.number.value
            tps = base * ratio if base else None
            ours = value.number.value / base if base and value.number.value else None
            yield Stated(bar, tps, ratio, ours, other.bar, unequal(value, other), entry["source"])


def footnotes(drawn: list[Drawn], notes: list[str]) -> list[str]:
    """Return the notes with the meanings of the signs in a figure, and the reasons of missing bars."""
    values = values_of(drawn)
    notes = [*notes, *intervals(values)]
    if any(UNDURABLE in value.marks for value in values):
        bases = [
            value.bar for filled in drawn for value in filled.values if value.bar.place == filled.panel.base
        ]
        base = ", ".join(dict.fromkeys(settings(bar) for bar in bases))
        notes.append(f"{UNDURABLE} another durability than its panel's base ({base}). {survival(values)}.")
    if any(UNCOUNTED in value.marks for value in values):
        numbers = sorted({value.transactions for value in values if value.transactions})
        counts = ", ".join(f"{number:,}" for number in numbers)
        notes.append(f"{UNCOUNTED} another number of transactions than its panel's base: {counts}.")
    for state in ("excluded", "failed", "missing"):
        reasons = sorted({str(value.found.reason) for value in values if value.found.state == state})
        if reasons:
            notes.append(f"{SIGNS[state]}: {'; '.join(reasons)}.")
    return notes


def intervals(values: list[Value]) -> Iterator[str]:
    """Yield, for each board on a real clock or with several samples, its whiskers and what lacks one."""
    own = [
        value
        for value in values
        if len(value.found.runs) > 1 or (value.found.runs and value.bar.cell.clock != "virtual")
    ]
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
    """Return what survives a power failure, for each journal mode and sync mode of a figure."""
    texts: dict[str, dict[str, None]] = {}
    for value in values:
        power = dict(durability.promised(value.bar.cell).rows())["a power failure"]
        texts.setdefault(SHORT[power], {})[settings(value.bar)] = None
    return "After a power failure: " + "; ".join(f"{', '.join(who)}: {text}" for text, who in texts.items())


def settings(bar: Bar) -> str:
    """Return `WAL/FULL`; for an engine without these settings its name and changed settings."""
    engine = str(bar.cell.engine)
    if not engines.unused_axes(engine) & {"journal_mode", "synchronous"}:
        return f"{bar.cell.journal_mode}/{bar.cell.synchronous}".upper()
    values = {name: bar.cell.value(name) for name in engines.setting_axes(engine)}
    changed = [f"{name}={value}" for name, value in values.items() if value != axes()[name].spec["default"]]
    return " ".join([engine.upper(), *changed])
