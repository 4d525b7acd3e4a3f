"""claims.json: the verdicts as plain data (docs/reference/paper-formats.md); all that the page shows."""

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from analysis.schemas.ledger import LABELS
from commitpath.cells.axes import axes
from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.papers import beside as beside_page
from commitpath.papers import texts, verdict
from commitpath.papers.asked import Asked
from commitpath.papers.judge import Judged, PairResult, ReadingResult, Value
from commitpath.papers.measured import COUNTS, TIMES, causes, device_ms
from commitpath.papers.paper import Paper
from commitpath.results.marks import left_out
from commitpath.results.metrics import WHOLE
from commitpath.results.query import Results
from commitpath.sweep.grid import at_most
from model import engines
from model.cell import Cell

# Of a claim that is reproduced by being equal, where claims.yml does not say why.
EQUAL = f"Neither side is ahead by {verdict.EQUAL:.0%} in any pair."


def document(
    paper: Paper,
    judged: list[Judged],
    results: Results,
    asked: Asked | None = None,
    beside: list[Judged] | None = None,
) -> dict[str, Any]:
    """All of a paper's claims with their verdicts. Rates per second; counts, KiB and ms per transaction.

    asked: what was asked for, if not all of the paper on the virtual board. beside: the same claims there.
    """
    # what explains is of the paper's device and of its numbers of transactions
    elsewhere = asked is not None and bool(asked.lab or asked.most)
    writer = texts.Writer(paper, results)
    return {
        "command": asked.command if asked else f"make reproduce PAPER={paper.name}",
        "board": asked.board if asked else VIRTUAL,
        "beside": beside_page.not_there(asked.virtual, results) if asked and asked.lab else None,
        "asked": asked.told() if asked else [],
        "explained": not elsewhere,
        "paper": paper.name,
        "title": paper.title,
        "reference": paper.reference,
        "grid": paper.grid,
        "says": dict(paper.says),
        "constants": at_most(paper.constants, paper.most),
        "builds": builds_of(judged),
        "made_by": made_by(judged),
        "rule": [{"verdict": name, "means": text} for name, text in verdict.RULE],
        "verdicts": {name: sum(one.verdict == name for one in judged) for name, _ in verdict.RULE},
        "circular": [one.claim.id for one in judged if "circular" in one.claim.texts],
        "by_equality": [one.claim.id for one in judged if one.equal],
        "claims": [
            claim(one, results, writer, elsewhere, other)
            for one, other in itertools.zip_longest(judged, beside or [])
        ],
        # last: by now every cell was asked for
        "left_out": left_out(list(results.left_out.values())),
    }


def builds_of(judged: list[Judged]) -> list[str]:
    """The SQLite releases of all readings, the headline's first."""
    return list(dict.fromkeys(value.cell.sqlite for one in judged for value in values(one.readings)))


def made_by(judged: list[Judged]) -> dict[str, dict[str, int]]:
    """Which versions of commitpath and of the kernel made how many of the runs that were judged."""
    runs = {id(value.run): value.run for one in judged for value in values(one.readings) if value.run}
    return {
        name: dict(Counter(run.facts[fact] for run in runs.values()).most_common())
        for name, fact in (("commit", "commit"), ("kernel", "uname"))
    }


def values(readings: tuple[ReadingResult, ...]) -> Iterator[Value]:
    """Both sides of every pair."""
    for reading in readings:
        for pair in reading.pairs:
            yield pair.left
            yield pair.right


def claim(
    one: Judged, results: Results, writer: "texts.Writer", elsewhere: bool, beside: Judged | None
) -> dict[str, Any]:
    """One claim. elsewhere: what explains it is of other runs. beside: the same on the virtual board."""
    given = one.claim
    others = beside.readings if beside else ()
    return {
        "id": given.id,
        "source": given.source,
        "statement": given.statement,
        "paper": {
            "left": given.selectors[0],
            "right": given.selectors[1],
            "metric": given.metric,
            "expected": given.expected,
            "kind": given.kind,
        },
        "verdict": one.verdict,
        "circular": writer.write(given.texts.get("circular")),
        "by_equality": writer.write(given.texts.get("by_equality", EQUAL)) if one.equal else None,
        "not_testable": given.not_testable,
        "unmeasured": one.unmeasured,
        "other_verdicts": list(one.others),
        "artifact": vars(one.artifact) if one.artifact else None,
        "explanation": None if elsewhere else writer.write(given.texts.get("explanation")),
        "paper_says": None if elsewhere else writer.write(given.texts.get("paper_says")),
        "readings": [reading(*both) for both in itertools.zip_longest(one.readings, others)],
        "why": [] if elsewhere else why(one, results),
    }


def reading(result: ReadingResult, beside: ReadingResult | None = None) -> dict[str, Any]:
    """One reading. beside: the virtual board's."""
    given = result.reading
    others = beside.pairs if beside else ()
    return {
        "name": given.name,
        "words": dict(given.words),
        "sqlite": result.pairs[0].left.cell.sqlite,
        "holds": given.holds,
        "verdict": result.verdict,
        "unmeasured": given.unmeasured,
        "pairs": [pair(*both) for both in itertools.zip_longest(result.pairs, others)],
    }


def pair(one: PairResult, beside: PairResult | None = None) -> dict[str, Any]:
    """One comparison. beside: the virtual board's."""
    return {
        "label": one.label,
        "left": side(one.left),
        "right": side(one.right),
        "ratio": one.ratio,
        "virtual_ratio": beside.ratio if beside else None,
        "verdict": one.verdict,
        "marks": dict(one.marks),
    }


def side(value: Value) -> dict[str, Any]:
    """One side of a comparison."""
    run = value.run
    return {
        "cell_id": cell_id(value.cell),
        "settings": settings(value.cell),
        "op": value.op,
        "value": value.value,
        "interval": value.interval,
        "runs": value.runs,
        "run": run.path if run else None,
        "reason": value.reason,
    }


def settings(cell: Cell) -> dict[str, Any]:
    """A cell's axes that are not at their default, and the four that name it always, as far as its engine has
    them."""
    named = ("fs", "journal_mode", "synchronous", "sqlite")
    known = [(name, axis) for name, axis in axes().items() if name not in engines.lacking(cell.engine)]
    return {
        name: cell.value(name)
        for name, axis in known
        if name in named or cell.value(name) != axis.spec["default"]
    }


def why(one: Judged, results: Results) -> list[dict[str, Any]]:
    """What a transaction of each of the headline's cells did, in all its words, from watched runs."""
    if not one.readings:
        return []
    first = one.readings[0]
    build = first.pairs[0].left.cell.sqlite
    chosen = tuple(
        result
        for result in one.readings
        if result.reading.name == first.reading.name and result.pairs[0].left.cell.sqlite == build
    )
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for value in values(chosen):
        op = WHOLE if ":" in value.op else value.op
        key = (cell_id(value.cell), op)
        if key not in rows:
            rows[key] = why_row(value.cell, op, results)
    return list(rows.values())


def why_row(cell: Cell, op: str, results: Results) -> dict[str, Any]:
    """A cell and operation: TPS as nobody watched, and what its watched run's ledger says."""
    timed = results.find(cell)
    row: dict[str, Any] = {
        "settings": settings(cell),
        "op": op,
        "tps": timed.number("tps", op).value,
        "device_ms": device_ms(timed.runs[-1]) if timed.runs else {},
        "watched": None,
    }
    found = causes(results, cell)
    if found is None or op not in found.ops:
        return row
    means = found.ops[op]
    row["watched"] = {
        "run": found.run.path,
        "n": found.run.settings["n"],
        **{name: means[name] for name in COUNTS},
        "kib": {name: means[name] / 1024 for name in LABELS},
        "ms": {name.removesuffix("_ns"): means[name] / 1e6 for name in TIMES},
        "window_kib": found.window_bytes / 1024,
    }
    return row
