"""Confirm or contradict the ledger's labels of written blocks (WAL, inode, …) by the recorded bytes.

A module here that is named after an engine or a filesystem reads what that one writes. Its function
`read(Evidence) -> list[Finding]` names the units that its bytes confirm or contradict, each by a named rule.
SEALED lists labels with a checksum or similar in every block. A module is found by its name; units
without a rule are silent. The filesystem's metadata confirm the place of any file's pages, also where the
engine has no module. The rules are in docs/reference/ledger.md.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.content import blocks, units
from analysis.content.findings import CONFIRMED, CONTRADICTED, STATES, Finding, Verdicts, decide
from analysis.content.units import Evidence, Written
from analysis.ledger.build import Ledger
from analysis.observers import Content as Kept
from analysis.schemas.ledger import LABEL, LABELS, WITNESSED, Kind
from base.arrays import Ints, ints
from model.block_operations import OP, WRITE

FOLDER = Path(__file__).resolve().parent
SCHEMA: Mapping[str, Kind] = {"label": LABEL, "rule": pl.String, "state": pl.Enum(STATES), "bytes": pl.Int64}


class Given(NamedTuple):
    """The engine and board that the bytes come from."""

    engine: str
    settings: Mapping[str, Any]  # of the engine, effective
    board: Path  # raw/board/
    superblock: Mapping[str, str]
    release: str = ""  # of the engine, if it was reported
    # for each database, bytes of its files after the run, by role
    sizes: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True)
class Content:
    """How the bytes compare with a run's ledger."""

    table: pl.DataFrame  # SCHEMA: bytes by label, rule and state; rule null: no rule applied
    wrong: pl.DataFrame  # label, rule, sector, bytes: each contradicted part

    @property
    def confirmed(self) -> pl.DataFrame:
        """The confirmed rows of the table."""
        return self.table.filter(pl.col("state") == STATES[CONFIRMED])


def unjudged(made: Ledger) -> Ledger:
    """Return the ledger with pieces of unknown content."""
    nothing = [pl.lit(None, kind).alias(name) for name, kind in WITNESSED.items()]
    return replace(made, pieces=made.pieces.with_columns(nothing))


def judge(made: Ledger, kept: Kept, given: Given) -> tuple[Ledger, Content]:
    """Return the ledger with `confirmed` and `rule` in its pieces, and the comparison's result.

    Nothing is compared where the kept commands are not the ledger's (checks/cross_check.py reports that).
    Raises FileError.
    """
    log, record = logged(made, kept)
    whole, places = blocks.blocks(log)
    judged = units.units(units.given(made.ledger, made.pieces, record), places)
    layout = made.given.layout
    command = ints(made.pieces["command"])[judged.piece]
    queued, done = (ints(made.ledger[name].fill_null(0))[command] for name in ("queue_ns", "complete_ns"))
    written = Written(made.given.vfs, queued, done)
    of_run = (given.settings, given.release, given.sizes)
    evidence = Evidence(whole, judged, given.board, given.superblock, layout, *of_run, written)
    findings = _findings(given.engine, layout.filesystem, evidence)
    verdict = decide(judged.piece.size, findings)
    pieces = made.pieces.with_columns(_of_pieces(judged, verdict, made.pieces.height))
    return replace(made, pieces=pieces), Content(_table(judged, verdict), _wrong(judged, verdict))


def logged(made: Ledger, kept: Kept) -> tuple[blocks.Log, Ints]:
    """Return the writes of the whole run, and the record there of each command of the ledger, -1 for none.

    No command has a record if the kept commands are not the ledger's.
    """
    rows = np.flatnonzero(((kept.flags & OP) == WRITE) & (kept.sectors > 0))
    time, sector = ints(kept.time), ints(kept.sector)
    log = blocks.Log(time, sector, ints(kept.sectors), ints(kept.begin), kept.data).take(rows)
    begin, end = made.given.window
    within = np.flatnonzero((log.time >= begin) & (log.time < end))
    write, record = units.writes(made.ledger), np.full(made.ledger.height, -1, np.int64)
    commands = made.ledger.select("sector", pl.col("bytes") // blocks.SECTOR).to_numpy()[write]
    if np.array_equal(commands, np.stack([log.sector, log.sectors], axis=1)[within]):
        record[write] = within
    return log, record


def with_kinds(ledger: pl.DataFrame, kind: str, labels: pl.DataFrame) -> pl.DataFrame:
    """Return the ledger with the label of each command of a kind as its kind; labels: command, label."""
    label = ledger.select("command").join(labels, on="command", how="left", maintain_order="left")["label"]
    text = pl.col("kind").cast(pl.String)
    changed = pl.when(text == kind).then(label.cast(pl.String)).otherwise(text)
    return ledger.with_columns(kind=changed.cast(ledger["kind"].dtype))


def find_reader(part: str) -> ModuleType | None:
    """Return the module of an engine or a filesystem, None if it has none here."""
    return importlib.import_module(f"{__name__}.{part}") if (FOLDER / f"{part}.py").is_file() else None


def _findings(engine: str, filesystem: str, evidence: Evidence) -> list[Finding]:
    """Return the findings of the modules of the engine and the filesystem, if they exist.

    The place of a page in its file does not confirm a label that has rules of its own (SEALED).
    """
    modules = [module for part in (engine, filesystem) if (module := find_reader(part))]
    sealed = [LABELS.index(label) for module in modules for label in module.SEALED]
    may = ~np.isin(evidence.units.label, sealed)
    findings: list[Finding] = [finding for module in modules for finding in module.read(evidence)]
    return [
        finding._replace(units=finding.units[may[finding.units]]) if finding.by_place else finding
        for finding in findings
    ]


def _of_pieces(judged: units.Units, verdict: Verdicts, height: int) -> list[pl.Series]:
    """Return `confirmed` and `rule` of each piece.

    confirmed: false if a unit of it is contradicted, true if all are confirmed.
    """
    wrong, right, all_of = (
        np.bincount(judged.piece[selected], minlength=height)
        for selected in (verdict.state == CONTRADICTED, verdict.state == CONFIRMED, slice(None))
    )
    confirmed = pl.Series("confirmed", wrong == 0).set(pl.Series((wrong == 0) & (right < all_of)), None)
    rule = np.full(height, -1)
    for state in (CONFIRMED, CONTRADICTED):
        selected = verdict.state == state
        rule[judged.piece[selected]] = verdict.rule[selected]
    rules = pl.Series([*verdict.rules, None], dtype=pl.Categorical)
    return [confirmed, rules.gather(np.where(rule < 0, len(verdict.rules), rule)).alias("rule")]


def _table(judged: units.Units, verdict: Verdicts) -> pl.DataFrame:
    """Return the table of SCHEMA."""
    rules = [*verdict.rules, None]  # the last for -1
    rows = pl.DataFrame(
        {
            "label": [LABELS[place] for place in judged.label.tolist()],
            "rule": [rules[place] for place in verdict.rule.tolist()],
            "state": [STATES[state] for state in verdict.state.tolist()],
            "bytes": judged.bytes,
        },
        schema=SCHEMA,
    )
    sums = rows.group_by("label", "rule", "state", maintain_order=True).agg(pl.col("bytes").sum())
    return sums.select(list(SCHEMA)).sort("label", "state", "rule")


def _wrong(judged: units.Units, verdict: Verdicts) -> pl.DataFrame:
    """Return the contradicted units, in the order of issue."""
    selected = np.flatnonzero(verdict.state == CONTRADICTED)
    return pl.DataFrame(
        {
            "label": [LABELS[place] for place in judged.label[selected]],
            "rule": [verdict.rules[place] for place in verdict.rule[selected]],
            "sector": judged.block[selected] * blocks.SECTORS,
            "bytes": judged.bytes[selected],
        },
        schema={"label": LABEL, "rule": pl.String, "sector": pl.Int64, "bytes": pl.Int64},
    )
