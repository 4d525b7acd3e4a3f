"""`make diff`: pair transactions of two analysed runs; compare counts, bytes, times; refuse unlike runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.figures import style
from analysis.run_files import stored
from analysis.run_files.stored import Stored
from analysis.schemas import events
from analysis.schemas.ledger import LABELS, WAITS
from base.errors import FileError
from base.identity import settings
from model import durability, engines
from model.cell import AXES, Cell

COUNTS = ("syncs", "writes", "flushes", "fua")
TIMES = ("cpu_ns", *WAITS)
METRICS = (*COUNTS, "bytes", *LABELS, "latency_ns", *TIMES)
WHOLE = "whole run"
# What two runs must share for the n-th insert of one to be the n-th insert of the other.
WORKLOAD = (
    *("workload", "rows", "n", "value_size", "seed"),
    *("request_distribution", "insert_order", "value_size_distribution", "batch"),
)
NAMED = ("board", "device", "fs", "journal_mode", "synchronous")  # axes shown by their value alone


@dataclass(frozen=True)
class Diff:
    """The result of `compare`. `names` are the axis values in which the cells differ."""

    a: Stored
    b: Stored
    names: tuple[str, str]
    forced: list[str]  # why it would have been refused
    durability: list[tuple[str, str, str]]  # failures, what survives them in a, in b
    profiles: list[str]  # a line for each profile of one name that has another content in b
    pairs: pl.DataFrame  # op, nth, transaction_a, transaction_b, <metric>_a, <metric>_b
    unpaired: int  # transactions of either run without a counterpart
    means: dict[str, dict[str, tuple[float, float]]]  # {op: {metric: (a, b)}}, WHOLE in totals


def compare(a: Path, b: Path, force: bool = False) -> Diff:
    """Compare run `b` with run `a`. Raises FileError if they cannot be, or must not without force."""
    runs = stored.read(a), stored.read(b)
    costs, reasons = comparable(runs, force)
    pairs = costs[0].join(costs[1], on=["op", "nth"], suffix="_b", maintain_order="left")
    if pairs.is_empty():
        raise FileError(b, "", f"no transaction in common with {a}", "two runs with transactions")
    both = ("transaction", *METRICS)
    pairs = pairs.rename({name: f"{name}_a" for name in both}).select(
        "op", "nth", *(f"{name}_{side}" for name in both for side in "ab")
    )
    means = {
        row["op"]: {name: (row[f"{name}_a"], row[f"{name}_b"]) for name in METRICS}
        for row in pairs.group_by("op", maintain_order=True).mean().iter_rows(named=True)
    }
    totals = _totals(runs[0]), _totals(runs[1])
    means[WHOLE] = {name: (totals[0][name], totals[1][name]) for name in totals[0]}
    return Diff(
        *runs,
        names=_names(runs),
        forced=reasons,
        durability=durability.differences(*(_survives(run) for run in runs)),
        profiles=_profiles(*(run.cell for run in runs)),
        pairs=pairs,
        unpaired=costs[0].height + costs[1].height - 2 * pairs.height,
        means=means,
    )


def comparable(
    runs: tuple[Stored, Stored], force: bool = False
) -> tuple[tuple[pl.DataFrame, pl.DataFrame], list[str]]:
    """Return the costs of two runs, and the reasons against a comparison. Raises FileError without force."""
    a, b = runs
    costs = _costs(a), _costs(b)
    reasons = _mismatches(runs, costs)
    if reasons and not force:
        wrong = f"not comparable with {a.folder}: {'; '.join(reasons)}"
        raise FileError(b.folder, "", wrong, "comparable runs; FORCE=1 compares anyway")
    return costs, reasons


def _survives(run: Stored) -> durability.Durability:
    try:
        return durability.promised(run.cell)
    except (KeyError, TypeError, AttributeError):
        path = run.folder / "cell.json"
        raise FileError(path, "", "its engine has no such settings", "a cell as it was stored") from None


def _costs(run: Stored) -> pl.DataFrame:
    """Return transaction, op, nth of its op, METRICS; latencies are those without observation."""
    table = run.table("costs", ("transaction", "op", *METRICS)).sort("transaction")
    unwatched = run.table("latencies", ("op", "latency_ns"))
    if not table["op"].cast(pl.String).equals(unwatched["op"].cast(pl.String)):
        path = run.folder / "tables/latencies.parquet"
        raise FileError(path, "", "not the transactions of costs.parquet", "the same operations")
    nth = pl.int_range(pl.len()).over("op").alias("nth")
    return table.with_columns(unwatched["latency_ns"], pl.col("op").cast(pl.String)).select(
        "transaction", "op", nth, pl.col(METRICS).cast(pl.Float64)
    )


def _totals(run: Stored) -> dict[str, float]:
    """Return the window's counts and bytes, including background work, and the timed region."""
    ledger = run.table("ledger", ("rwbs", "bytes")).select(pl.col("rwbs").cast(pl.String), "bytes")
    ledger = ledger.with_columns(events.block_kind(sectors="bytes"))
    writes = ledger.filter(pl.col("kind").str.starts_with("write"))
    pieces = run.table("pieces", ("label", "bytes")).group_by("label").agg(pl.col("bytes").sum())
    labels = dict(pieces.rows())
    return {
        "syncs": run.syncs().height,
        "writes": writes.height,
        "flushes": ledger.filter(pl.col("kind") == "flush").height,
        "fua": writes.filter(pl.col("kind") == "write FUA").height,
        "bytes": writes["bytes"].sum(),
        **{label: labels.get(label, 0) for label in LABELS},
        "latency_ns": 1e9 * run.summary["virtual_seconds"],
    }


def _mismatches(runs: tuple[Stored, Stored], costs: tuple[pl.DataFrame, pl.DataFrame]) -> list[str]:
    """Return the reasons why the runs are not comparable."""
    a, b = runs
    reasons = [f"{run.folder.name} was rejected ({'; '.join(run.rejected)})" for run in runs if run.rejected]
    ran = [run.cell.engine for run in runs]
    # engines execute different texts
    same = [("clock", "clocks")] + ([("sql_sha256", "rendered transactions")] if ran[0] == ran[1] else [])
    reasons += [f"ENGINE is {ran[0]} and {ran[1]}"] if ran[0] != ran[1] else []
    for key, name in same:
        values = [str(run.summary.get(key)) for run in runs]
        if values[0] != values[1]:
            reasons.append(f"different {name} ({' and '.join(value[:12] for value in values)})")
    for key in WORKLOAD:
        if a.cell.value(key) != b.cell.value(key):
            reasons.append(f"{key.upper()} is {a.cell.value(key)} and {b.cell.value(key)}")
    if not costs[0]["op"].equals(costs[1]["op"]):
        reasons.append("different operations")
    return reasons


def _profiles(a: Cell, b: Cell) -> list[str]:
    """Return the differences between profiles that have the same name in both runs."""
    lines = []
    for axis in sorted(a.profiles.keys() & b.profiles.keys()):
        if axis in AXES and a.value(axis) != b.value(axis):
            continue
        left, right = (dict(_settings(settings(cell.profiles[axis]))) for cell in (a, b))
        differs = [path for path in dict.fromkeys([*left, *right]) if left.get(path) != right.get(path)]
        ends = [path[-1] for path in differs]
        differences = [
            f"{path[-1] if ends.count(path[-1]) == 1 else '.'.join(path)} "
            f"{left.get(path, 'none')}, {right.get(path, 'none')}"
            for path in differs
        ]
        if differences:
            lines.append(f"the {axis}'s profile differs: {'; '.join(differences)}")
    return lines


def _settings(profile: Mapping[str, Any], *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (path, value) of each setting of a profile."""
    for key, value in profile.items():
        if isinstance(value, dict) and value:
            yield from _settings(value, *path, key)
        else:
            yield (*path, key), value


def _names(runs: tuple[Stored, Stored]) -> tuple[str, str]:
    """Return a name for each run: the axes in which the cells differ, else its id."""
    a, b = (run.cell for run in runs)
    without = {*WORKLOAD, *(engines.unused_axes(a.engine) & engines.unused_axes(b.engine))}
    keys = [
        key for key, value in a.axes() if key not in without and not (b.has(key) and b.value(key) == value)
    ]
    if not keys:
        return runs[0].folder.resolve().name, runs[1].folder.resolve().name
    keys.sort(key=lambda key: (key not in NAMED, NAMED.index(key) if key in NAMED else 0))
    return _name(a, keys), _name(b, keys)


def _name(cell: Cell, keys: list[str]) -> str:
    words = []
    for key in keys:
        if key in engines.unused_axes(cell.engine):
            continue
        value = str(cell.value(key)) if cell.has(key) else "None"
        shown = value.upper() if key in ("journal_mode", "synchronous") else value
        words.append(shown if key in NAMED else f"{key}={value}")
    return style.clean(" ".join(words))
