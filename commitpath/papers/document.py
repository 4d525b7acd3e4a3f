"""Build claims.json, with everything that the page shows (docs/reference/paper-formats.md)."""

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from analysis.schemas.ledger import LABELS
from commitpath.cells.axes import axes
from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.papers import texts, two_boards, verdict
from commitpath.papers.judge import Judged, PairResult, ReadingResult, Value
from commitpath.papers.paper import Paper
from commitpath.papers.request import Request
from commitpath.results import costs
from commitpath.results.costs import COUNTS, TIMES, device_ms
from commitpath.results.marks import left_out
from commitpath.results.metrics import WHOLE, number
from commitpath.results.query import Results
from commitpath.sweep.grid import at_most
from model import engines
from model.cell import Cell

# The reason of a claim that is reproduced by equality, unless claims.yml has one.
EQUAL = f"Neither side is ahead by {verdict.EQUAL:.0%} in any pair."


def document(
    paper: Paper,
    judged: list[Judged],
    results: Results,
    request: Request | None = None,
    virtual: list[Judged] | None = None,
) -> dict[str, Any]:
    """Return a paper's claims with their verdicts. Rates per second; counts, KiB and ms per transaction.

    request: None for the whole paper on the virtual board. virtual: the same claims on the virtual board.
    """
    # explanations apply to the paper's device and to its numbers of transactions
    elsewhere = request is not None and bool(request.lab or request.most)
    writer = texts.Writer(paper, results)
    return {
        "command": request.command if request else f"make reproduce PAPER={paper.name}",
        "board": request.board if request else VIRTUAL,
        "beside": two_boards.missing(request.virtual, results) if request and request.lab else None,
        "asked": request.reductions() if request else [],
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
            for one, other in itertools.zip_longest(judged, virtual or [])
        ],
        # last: every cell was looked up before
        "left_out": left_out(list(results.left_out.values())),
    }


def builds_of(judged: list[Judged]) -> list[str]:
    """Return the SQLite releases of all readings, the headline's first."""
    return list(dict.fromkeys(value.cell.sqlite for one in judged for value in values(one.readings)))


def made_by(judged: list[Judged]) -> dict[str, dict[str, int]]:
    """Return the versions of commitpath and of the kernel, with how many of the judged runs each made."""
    runs = {id(value.run): value.run for one in judged for value in values(one.readings) if value.run}
    return {
        name: dict(Counter(run.facts[fact] for run in runs.values()).most_common())
        for name, fact in (("commit", "commit"), ("kernel", "uname"))
    }


def values(readings: tuple[ReadingResult, ...]) -> Iterator[Value]:
    """Yield both sides of every pair."""
    for reading in readings:
        for pair in reading.pairs:
            yield pair.left
            yield pair.right


def claim(
    one: Judged, results: Results, writer: "texts.Writer", elsewhere: bool, virtual: Judged | None
) -> dict[str, Any]:
    """Return one claim. elsewhere: omit explanations. virtual: the same claim on the virtual board."""
    given = one.claim
    others = virtual.readings if virtual else ()
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


def reading(result: ReadingResult, virtual: ReadingResult | None = None) -> dict[str, Any]:
    """Return one reading. virtual: the virtual board's."""
    given = result.reading
    others = virtual.pairs if virtual else ()
    return {
        "name": given.name,
        "words": dict(given.words),
        "sqlite": result.pairs[0].left.cell.sqlite,
        "holds": given.holds,
        "verdict": result.verdict,
        "unmeasured": given.unmeasured,
        "pairs": [pair(*both) for both in itertools.zip_longest(result.pairs, others)],
    }


def pair(one: PairResult, virtual: PairResult | None = None) -> dict[str, Any]:
    """Return one comparison. virtual: the virtual board's."""
    return {
        "label": one.label,
        "left": side(one.left),
        "right": side(one.right),
        "ratio": one.ratio,
        "virtual_ratio": virtual.ratio if virtual else None,
        "verdict": one.verdict,
        "marks": dict(one.marks),
    }


def side(value: Value) -> dict[str, Any]:
    """Return one side of a comparison."""
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
    """Return a cell's axes that are not at their default, and the four that always name it.

    Axes that its engine lacks are omitted.
    """
    named = ("fs", "journal_mode", "synchronous", "sqlite")
    own = [(name, axis) for name, axis in axes().items() if name not in engines.unused_axes(cell.engine)]
    return {
        name: cell.value(name)
        for name, axis in own
        if name in named or cell.value(name) != axis.spec["default"]
    }


def why(one: Judged, results: Results) -> list[dict[str, Any]]:
    """Return a transaction's costs in each cell of the headline, in all wordings, from watched runs."""
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
    """Return the unwatched TPS of a cell and operation, and the costs of its watched run."""
    timed = results.find(cell)
    row: dict[str, Any] = {
        "settings": settings(cell),
        "op": op,
        "tps": timed.number("tps", op).value,
        "device_ms": device_ms(timed.runs[-1]) if timed.runs else {},
        "watched": None,
    }
    run = results.watched(cell, stored=True)
    if run is None or op not in (ops := costs.of_run(run)):
        return row
    means = ops[op]
    row["watched"] = {
        "run": run.path,
        "n": run.settings["n"],
        **{name: means[name] for name in COUNTS},
        "kib": {name: means[name] / 1024 for name in LABELS},
        "ms": {name.removesuffix("_ns"): means[name] / 1e6 for name in TIMES},
        "window_kib": number(run, "kib", WHOLE),
    }
    return row
