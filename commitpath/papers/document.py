"""Build claims.json: a paper's claims with verdicts, both sides' numbers, and the costs of a transaction."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from analysis.schemas.ledger import LABELS
from commitpath.cells.axes import axes
from commitpath.cells.grid import at_most
from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.papers import texts, two_boards, verdict
from commitpath.papers.judge import Judged, PairResult, ReadingResult, Value
from commitpath.papers.paper import Paper
from commitpath.papers.request import Request
from commitpath.papers.robust import Row
from commitpath.results import costs
from commitpath.results.costs import COUNTS, TIMES, device_ms
from commitpath.results.marks import left_out
from commitpath.results.metrics import WHOLE, number
from commitpath.results.query import Results
from model import engines
from model.cell import Cell

# The reason of a claim that is reproduced by equality, unless claims.yml has one.
EQUAL = f"Neither side is ahead by {verdict.EQUAL:.0%} in any pair."
# The axes that always name a cell.
NAMED = ("fs", "journal_mode", "synchronous", "sqlite")


def document(
    paper: Paper,
    judged: list[Judged],
    results: Results,
    request: Request | None = None,
    virtual: list[Judged] | None = None,
    varied: Mapping[str, Row] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return a paper's claims with their verdicts. Rates per second; counts, KiB and ms per transaction.

    request: None for the whole paper on the virtual board. virtual: the same claims on the virtual board.
    varied: claim → its verdicts with other settings.
    """
    # explanations apply to the paper's device and to its numbers of transactions
    elsewhere = request is not None and bool(request.lab or request.most)
    writer = texts.Writer(paper, results)
    values = values_of(reading for outcome in judged for reading in outcome.readings)
    runs = {id(value.run): value.run for value in values if value.run}.values()
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
        "constants": {
            name: value
            for name, value in at_most(paper.constants, paper.most).items()
            if name in paper.constants
        },
        # the headline's first
        "builds": list(
            dict.fromkeys(build_of(reading) for outcome in judged for reading in outcome.readings)
        ),
        # how many of the judged runs each version made
        "made_by": {
            name: dict(Counter(run.facts[fact] for run in runs).most_common())
            for name, fact in (("commit", "commit"), ("kernel", "uname"))
        },
        "rule": [{"verdict": name, "means": text} for name, text in verdict.RULE],
        "verdicts": {name: sum(outcome.verdict == name for outcome in judged) for name, _ in verdict.RULE},
        "circular": [outcome.claim.id for outcome in judged if "circular" in outcome.claim.texts],
        "by_equality": [outcome.claim.id for outcome in judged if outcome.equal],
        "claims": [
            claim(outcome, results, writer, elsewhere, other) | depends(varied.get(outcome.claim.id))
            for outcome, other in itertools.zip_longest(judged, virtual or [])
        ],
        # last: every cell was looked up before
        "left_out": left_out(list(results.left_out.values())),
    }


def depends(row: Row | None) -> dict[str, Any]:
    """Return what a claim's verdict depends on, if runs with other settings are stored."""
    if row is None or not row.stored:
        return {"depends": None}
    return {"depends": {"words": row.words, "null_model_too": row.of_null, "ratios_over_fits": row.over_fits}}


def values_of(readings: Iterable[ReadingResult]) -> list[Value]:
    """Return the values of both sides of every pair."""
    return [side for reading in readings for pair in reading.pairs for side in (pair.left, pair.right)]


def claim(
    outcome: Judged, results: Results, writer: texts.Writer, elsewhere: bool, virtual: Judged | None
) -> dict[str, Any]:
    """Return one claim. elsewhere: omit explanations. virtual: the same claim on the virtual board."""
    given = outcome.claim
    others = virtual.readings if virtual else ()
    return {
        **{name: getattr(given, name) for name in ("id", "source", "statement", "not_testable")},
        "paper": {name: getattr(given, name) for name in ("left", "right", "metric", "expected", "kind")},
        "verdict": outcome.verdict,
        "circular": writer.write(given.texts.get("circular")),
        "by_equality": writer.write(given.texts.get("by_equality", EQUAL)) if outcome.equal else None,
        "unmeasured": outcome.unmeasured,
        "gap": writer.write(given.texts["gap"]) if outcome.by_gap else None,
        "other_verdicts": list(outcome.others),
        "artifact": outcome.artifact,
        "explanation": None if elsewhere else writer.write(given.texts.get("explanation")),
        "paper_says": None if elsewhere else writer.write(given.texts.get("paper_says")),
        "readings": [reading(*both) for both in itertools.zip_longest(outcome.readings, others)],
        "why": [] if elsewhere else why(outcome, results),
    }


def reading(result: ReadingResult, virtual: ReadingResult | None = None) -> dict[str, Any]:
    """Return one reading. virtual: the virtual board's."""
    given, others = result.reading, virtual.pairs if virtual else ()
    return {
        **{name: getattr(given, name) for name in ("name", "words", "holds", "unmeasured")},
        "sqlite": build_of(result),
        "verdict": result.verdict,
        "pairs": [pair(*both) for both in itertools.zip_longest(result.pairs, others)],
    }


def build_of(result: ReadingResult) -> str:
    """Return the SQLite release of a reading's cells, or the reading's if their engines have none."""
    cells = [value.cell for value in values_of([result])]
    made = [cell.sqlite for cell in cells if "sqlite" not in engines.unused_axes(cell.engine)]
    build = result.reading.build
    return build if build in made or not made else made[0]


def pair(outcome: PairResult, virtual: PairResult | None = None) -> dict[str, Any]:
    """Return one comparison. virtual: the virtual board's."""
    sides = {"left": side(outcome.left), "right": side(outcome.right)}
    return {**vars(outcome), **sides, "virtual_ratio": virtual.ratio if virtual else None}


def side(value: Value) -> dict[str, Any]:
    """Return one side of a comparison as JSON."""
    return {
        "cell_id": cell_id(value.cell),
        "settings": settings(value.cell),
        **{name: getattr(value, name) for name in ("op", "value", "interval", "runs", "reason")},
        "run": value.run.path if value.run else None,
    }


def settings(cell: Cell) -> dict[str, Any]:
    """Return NAMED and a cell's axes that are not at their default, without those that its engine lacks."""
    return {
        name: cell.value(name)
        for name, axis in axes().items()
        if name not in engines.unused_axes(cell.engine)
        and (name in NAMED or cell.value(name) != axis.spec["default"])
    }


def why(outcome: Judged, results: Results) -> list[dict[str, Any]]:
    """Return a transaction's costs in each cell of the headline, in all wordings, from watched runs."""
    builds = [build_of(result) for result in outcome.readings]
    chosen = [
        result
        for result, build in zip(outcome.readings, builds, strict=True)
        if (result.reading.name, build) == (outcome.readings[0].reading.name, builds[0])
    ]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for value in values_of(chosen):
        op = WHOLE if ":" in value.op else value.op
        key = (cell_id(value.cell), op)
        rows[key] = rows.get(key) or why_row(value.cell, op, results)
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
