"""The bytes as a witness: do they say what the ledger says of them?

A module here that is named after an engine or a filesystem reads what that one writes: its function
`read(Evidence) -> list[Said]` says which units its bytes confirm or contradict, by rules with names.
Nothing lists them; what has no module, or no rule, is silent. docs/ledger.md tells the rules.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from analysis.content import blocks, units, verdicts
from analysis.content.evidence import Evidence
from analysis.content.verdicts import CONFIRMED, CONTRADICTED, STATES, Said, Verdicts
from analysis.ledger.arrays import ints
from analysis.ledger.build import Ledger
from analysis.ledger.schema import LABEL, LABELS

FOLDER = Path(__file__).resolve().parent
WRITE = 1  # REQ_OP_WRITE
SCHEMA = {"label": LABEL, "rule": pl.String, "state": pl.Enum(STATES), "bytes": pl.Int64}


class Kept(Protocol):
    """What was kept of the commands, in the order of issue (analysis/observers/)."""

    time: np.ndarray  # ns
    sector: np.ndarray
    sectors: np.ndarray
    flags: np.ndarray  # cmd_flags of the kernel
    begin: np.ndarray  # of its bytes in `data`, -1: none are there
    data: np.ndarray


@dataclass(frozen=True)
class Content:
    """What the bytes say of a run's ledger."""

    table: pl.DataFrame  # SCHEMA: bytes by label, rule and what it said; rule null: none said anything
    contradicted: pl.DataFrame  # the pieces that the bytes contradict, with the rule that does
    joined: bool  # whether the log's write commands are the ledger's; if not, nothing is confirmed


def judge(
    made: Ledger, kept: Kept, parts: tuple[str, str], board: Path, superblock: Mapping[str, str],
    settings: Mapping[str, str],
) -> tuple[Ledger, Content]:  # fmt: skip
    """Return the ledger with `confirmed` and `rule` in its pieces, and what the bytes say in all.

    parts: the engine and the filesystem. Raises BadInput.
    """
    log, within = _log(kept, made.given.window)
    write = units.writes(made.ledger)
    columns = made.ledger.select("sector", pl.col("bytes") // blocks.SECTOR).to_numpy()[write]
    if not np.array_equal(columns, np.stack([log.sector, log.sectors], axis=1)[within]):
        return made, Content(pl.DataFrame(schema=SCHEMA), made.pieces.clear(), joined=False)
    whole, places = blocks.blocks(log)
    judged = units.units(units.given(made.ledger, made.pieces, np.flatnonzero(within)), places)
    evidence = Evidence(whole, judged, board, superblock, made.given.layout, settings)
    said = [one for part in parts for one in _read(part, evidence)]
    verdict = verdicts.decide(judged.piece.size, said)
    pieces = made.pieces.with_columns(_of_pieces(judged, verdict, made.pieces.height))
    table = _table(judged, verdict)
    wrong = pieces.filter(~pl.col("confirmed"))
    return replace(made, pieces=pieces), Content(table, wrong, joined=True)


def _log(kept: Kept, window: tuple[int, int]) -> tuple[blocks.Log, np.ndarray]:
    """Return the writes of the whole run, and which are of the window."""
    write = np.flatnonzero(((kept.flags & 0xFF) == WRITE) & (kept.sectors > 0))
    time, sector, sectors, begin = (
        ints(column[write]) for column in (kept.time, kept.sector, kept.sectors, kept.begin)
    )
    within = (time >= window[0]) & (time < window[1])
    return blocks.Log(time, sector, sectors, begin, kept.data), within


def _read(part: str, evidence: Evidence) -> list[Said]:
    """Ask the reader of that name, if there is one."""
    if not (FOLDER / f"{part}.py").is_file():
        return []
    found: list[Said] = importlib.import_module(f"{__name__}.{part}").read(evidence)
    return found


def _of_pieces(judged: units.Units, verdict: Verdicts, height: int) -> list[pl.Series]:
    """Return `confirmed` and `rule` of each piece: false if a unit of it is contradicted, true if all are
    confirmed."""
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
    """Return SCHEMA's table."""
    rules = np.array([*verdict.rules, None], object)
    rows = pl.DataFrame(
        {
            "label": pl.Series([LABELS[place] for place in judged.label], dtype=pl.String),
            "rule": pl.Series(rules[verdict.rule].tolist(), dtype=pl.String),
            "state": pl.Series([STATES[state] for state in verdict.state], dtype=pl.String),
            "bytes": judged.bytes,
        }
    )
    sums = rows.group_by("label", "rule", "state", maintain_order=True).agg(pl.col("bytes").sum())
    return sums.cast(SCHEMA).select(list(SCHEMA)).sort("label", "state", "rule")
