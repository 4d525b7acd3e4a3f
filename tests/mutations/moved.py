"""What a forged run tells otherwise than the true one: of its bytes, its times, its counts, its settings.

Shares of a whole: bytes of all bytes written, a component of the transactions' time of the latency of
that operation, a rate or a percentile of itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis import pipeline
from analysis.ledger.build import Ledger
from analysis.ledger.schema import WAITS

# of a byte: what it is, and who is said to have caused it
_CAUSE = ("label", "of", "file", "how", "no_transaction", "op", "transaction")
_TIMES = ("latency_ns", "cpu_ns", *WAITS)
BYTES_LIMIT, TIME_LIMIT = 0.001, 0.01
UNATTRIBUTED, UNKNOWN = "unattributed", "unknown"


@dataclass(frozen=True)
class Told:
    """What an analysed run says."""

    reasons: frozenset[str]
    bytes: dict[tuple[Any, ...], float]  # by _CAUSE
    deferred: dict[tuple[Any, ...], float]  # bytes, by who wrote and who made written
    times: dict[tuple[str, str], float]  # ns, by operation and component
    figures: dict[str, float]  # rates, percentiles, counts per transaction
    settings: Any


@dataclass(frozen=True)
class Moved:
    """How much is told otherwise, each over its whole, and where most."""

    bytes: float  # to another label or cause, or another's content
    unattributed: float  # to no label, or to nobody who is known
    time: float
    figures: float
    settings: bool
    where: str

    @property
    def too_much(self) -> bool:
        """Whether somebody who reads the run is told what is not so."""
        much = self.time > TIME_LIMIT or self.figures > TIME_LIMIT
        return self.bytes > BYTES_LIMIT or much or self.settings


def told(folder: Path) -> Told:
    """Analyse a run. Raises BadInput."""
    run, _, effective, summary = pipeline.recompute(folder)
    made = run.ledger
    if made is None:  # it is said to have been watched by too few
        reasons = frozenset(summary["reasons"])
        return Told(reasons, {}, {}, {}, _figures(summary), _settings(effective))
    return Told(
        frozenset(summary["reasons"]),
        _bytes(made),
        _sums(made.deferred, ("transaction", "made_by", "no_transaction"), "bytes"),
        _times(made),
        {**_figures(summary), "failed syncs": int((made.syncs["result"] != 0).sum())},
        _settings(effective),
    )


def _bytes(made: Ledger) -> dict[tuple[Any, ...], float]:
    of = made.ledger.select("command", "how", "transaction", "no_transaction")
    alone = of.join(made.shares.select("command").unique(), on="command", how="anti")
    whole = alone.with_columns(share=pl.lit(1.0))
    shared = made.shares.join(of.select("command", "how"), on="command")
    each = pl.concat([whole, shared.select(whole.columns)])
    op = made.costs.select("transaction", "op")
    rows = (
        made.pieces.join(each, on="command", how="left")
        .join(op, on="transaction", how="left")
        .with_columns(pl.col(_CAUSE[:-1]).cast(pl.String), size=pl.col("bytes") * pl.col("share"))
    )
    return _sums(rows, _CAUSE, "size")


def _sums(rows: pl.DataFrame, by: tuple[str, ...], what: str) -> dict[tuple[Any, ...], float]:
    return {tuple(row[:-1]): row[-1] for row in rows.group_by(by).agg(pl.col(what).sum()).iter_rows()}


def _times(made: Ledger) -> dict[tuple[str, str], float]:
    sums = made.costs.group_by(pl.col("op").cast(pl.String)).agg(pl.col(_TIMES).sum())
    return {(row["op"], name): row[name] for row in sums.iter_rows(named=True) for name in _TIMES}


def _figures(summary: Mapping[str, Any]) -> dict[str, float]:
    """All numbers of the summary that are per operation."""
    found: dict[str, float] = {}
    for name in ("tps", "latency_us", "syncs", "per_transaction"):
        for op, value in summary[name].items():
            each = value if isinstance(value, dict) else {"": value}
            found |= {f"{name} {op} {what}".strip(): n for what, n in each.items() if n is not None}
    return found


def _settings(effective: Mapping[str, Any]) -> Any:
    cell = {key: value for key, value in effective["cell"].items() if key != "profiles"}
    named = {(one["group"], one["name"]): one["effective"] for one in effective["settings"]}
    return cell, named


def moved(true: Told, forged: Told) -> Moved:
    """Compare two runs, the second the forged first."""
    total = sum(true.bytes.values())
    change = _change(true.bytes, forged.bytes)
    hidden = max(sum(n for key, n in change.items() if _shown(key)), 0)
    gained = sum(n for key, n in change.items() if n > 0 and not _shown(key))
    lost = -sum(n for key, n in change.items() if n < 0)
    deferred = sum(abs(n) for n in _change(true.deferred, forged.deferred).values()) / 2
    times = {key: _time(true, forged, *key) for key in {*true.times, *forged.times}}
    names = {*true.figures, *forged.figures}
    figures = {name: _relative(true.figures.get(name), forged.figures.get(name)) for name in names}
    other = true.settings != forged.settings
    return Moved(
        bytes=max(gained, lost - hidden, deferred) / total,
        unattributed=hidden / total,
        time=max(times.values(), default=0),
        figures=max(figures.values(), default=0),
        settings=other,
        where=("other settings; " if other else "")
        + _where(
            {"deferred bytes": deferred / total / BYTES_LIMIT},
            {f"{_words(key)} bytes": abs(n) / total / BYTES_LIMIT for key, n in change.items()},
            {f"{op} {name}": n / TIME_LIMIT for (op, name), n in times.items()},
            {name: n / TIME_LIMIT for name, n in figures.items()},
        ),
    )


def _change(true: Mapping[Any, float], forged: Mapping[Any, float]) -> dict[Any, float]:
    return {key: forged.get(key, 0) - true.get(key, 0) for key in {*true, *forged}}


def _shown(key: tuple[Any, ...]) -> bool:
    """Whether it is said of these bytes that what they are, or who caused them, is not known."""
    return key[0] == UNATTRIBUTED or UNKNOWN in key


def _words(key: tuple[Any, ...]) -> str:
    """A cause in words."""
    return " / ".join(str(word) for word in key if word is not None)


def _where(*found: Mapping[str, float]) -> str:
    """What moved most of each, as a multiple of its limit."""
    most = [max(one.items(), key=lambda item: item[1], default=("", 0.0)) for one in found]
    return "; ".join(f"{name} by {times:.1f} times the limit" for name, times in most if times > 0.1)


def _time(true: Told, forged: Told, op: str, name: str) -> float:
    whole = true.times.get((op, "latency_ns"), 0)
    change = abs(forged.times.get((op, name), 0) - true.times.get((op, name), 0))
    return change / whole if whole else 1.0


def _relative(true: float | None, forged: float | None) -> float:
    if true is None or forged is None or true == 0:
        return 0.0 if true == forged else 1.0
    return abs(forged - true) / abs(true)
