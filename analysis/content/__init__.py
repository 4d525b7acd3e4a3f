"""Compare the bytes written to the device with what the ledger records about them.

A module here that is named after an engine or a filesystem reads what that one writes. Its function
`read(Evidence) -> list[Finding]` names the units that its bytes confirm or contradict, each by a named rule.
SEALED lists labels whose blocks all have a checksum or similar. There is no registry; an engine or filesystem
without a module, and units without a rule, are silent. The rules are in docs/reference/ledger.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.content import blocks, units, verdicts
from analysis.content.evidence import Evidence, Written
from analysis.content.verdicts import CONFIRMED, CONTRADICTED, STATES, Finding, Verdicts
from analysis.ledger.build import Ledger
from analysis.observers import Content as Kept
from analysis.schemas.ledger import LABEL, LABELS, WITNESSED, Kind
from base.arrays import Ints, ints
from model import engines
from model.block_operations import OP, WRITE

FOLDER = Path(__file__).resolve().parent
SCHEMA: Mapping[str, Kind] = {
    "label": LABEL,
    "rule": pl.String,
    "state": pl.Enum(STATES),
    "bytes": pl.Int64,
}


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
    """Return the ledger with pieces whose content is unknown."""
    nothing = [pl.lit(None, kind).alias(name) for name, kind in WITNESSED.items()]
    return replace(made, pieces=made.pieces.with_columns(nothing))


def judge(made: Ledger, kept: Kept, given: Given) -> tuple[Ledger, Content]:
    """Return the ledger with `confirmed` and `rule` in its pieces, and the comparison's result.

    Nothing is compared where the kept commands are not the ledger's (checks/cross_check.py reports that).
    Raises BadInput.
    """
    log, within = log_of(kept, made.given.window)
    records = records_of(made, log, within)
    whole, places = blocks.blocks(log)
    judged = units.units(units.given(made.ledger, made.pieces, records), places)
    layout = made.given.layout
    command = ints(made.pieces["command"])[judged.piece]
    queued, done = (ints(made.ledger[name].fill_null(0))[command] for name in ("queue_ns", "complete_ns"))
    written = Written(made.given.vfs, queued, done)
    of_run = (given.settings, given.release, given.sizes)
    evidence = Evidence(whole, judged, given.board, given.superblock, layout, *of_run, written)
    findings = _findings(given.engine, layout.filesystem, evidence)
    verdict = verdicts.decide(judged.piece.size, findings)
    pieces = made.pieces.with_columns(_of_pieces(judged, verdict, made.pieces.height))
    return replace(made, pieces=pieces), Content(_table(judged, verdict), _wrong(judged, verdict))


def unkept(engine: str, settings: Mapping[str, Any], calls: pl.DataFrame, kept: Kept) -> pl.DataFrame:
    """Return the engine's calls (rows of vfs.csv) that wrote synced data missing from the content.

    Empty for an engine without a module. Needs no ledger.
    """
    if not _has_reader(engine):
        return calls.clear()
    missing: pl.DataFrame = importlib.import_module(f"{__name__}.{engine}").unkept(settings, calls, kept)
    return missing


def records_of(made: Ledger, log: blocks.Log, within: np.ndarray) -> Ints:
    """Return the log's record of each write command; all -1 if the log is of other commands."""
    write = units.writes(made.ledger)
    commands = made.ledger.select("sector", pl.col("bytes") // blocks.SECTOR).to_numpy()[write]
    joined = np.array_equal(commands, np.stack([log.sector, log.sectors], axis=1)[within])
    return np.flatnonzero(within) if joined else np.full(write.size, -1)


def log_of(kept: Kept, window: tuple[int, int]) -> tuple[blocks.Log, np.ndarray]:
    """Return the writes of the whole run, and which lie in the window."""
    write = np.flatnonzero(((kept.flags & OP) == WRITE) & (kept.sectors > 0))
    time, sector, sectors, begin = (
        ints(column[write]) for column in (kept.time, kept.sector, kept.sectors, kept.begin)
    )
    within = (time >= window[0]) & (time < window[1])
    return blocks.Log(time, sector, sectors, begin, kept.data), within


def _has_reader(part: str) -> bool:
    """Return whether an engine or a filesystem has a module here."""
    return (FOLDER / f"{part}.py").is_file()


def _findings(engine: str, filesystem: str, evidence: Evidence) -> list[Finding]:
    """Return the findings of the modules of the engine and the filesystem, if they exist.

    Without a module of the engine, the place of a page in a file does not confirm the file's label.
    """
    modules = [
        importlib.import_module(f"{__name__}.{part}") for part in (engine, filesystem) if _has_reader(part)
    ]
    labels = [label for module in modules for label in module.SEALED]
    if engine in engines.names() and not _has_reader(engine):
        labels += [label for label, _ in engines.by_name(engine).FILES.values()]
    may = ~np.isin(evidence.units.label, [LABELS.index(label) for label in labels])
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
        np.bincount(judged.piece[which], minlength=height)
        for which in (verdict.state == CONTRADICTED, verdict.state == CONFIRMED, slice(None))
    )
    confirmed = pl.Series("confirmed", wrong == 0).set(pl.Series((wrong == 0) & (right < all_of)), None)
    rule = np.full(height, -1)
    for state in (CONFIRMED, CONTRADICTED):
        which = verdict.state == state
        rule[judged.piece[which]] = verdict.rule[which]
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
    which = np.flatnonzero(verdict.state == CONTRADICTED)
    return pl.DataFrame(
        {
            "label": [LABELS[place] for place in judged.label[which]],
            "rule": [verdict.rules[place] for place in verdict.rule[which]],
            "sector": judged.block[which] * blocks.SECTORS,
            "bytes": judged.bytes[which],
        },
        schema={"label": LABEL, "rule": pl.String, "sector": pl.Int64, "bytes": pl.Int64},
    )
