"""Build the tables behind the report: TPS, latencies, syncs, block commands by transaction, operation, phase.

A sync or block command belongs to the transaction during which it was issued (begin_ns <= t < end_ns).
Therefore the counts of all transactions never exceed those of the window.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import polars as pl

from analysis.adapters.driver import Driver
from analysis.checks import counts, disk
from analysis.run import Run
from analysis.schemas import events
from base.arrays import inside, ints
from model import engines
from model.operations import kind_name, kinds

BLOCK_COLUMNS = ("block_reads", "block_writes", "bytes_written", "flushes", "fua", "discards")
# Kinds of events, and the probes that record them (one suffices). Every observed run has another recorder of
# block commands.
OBSERVED = {"syncs": ("filesystem",), "filesystem": ("filesystem", "flush", "writeback"), "commands": ()}
_PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
ALL_FILES = "all"


@dataclass(frozen=True)
class Tables:
    """The input of figures and reports. Times are ns, sizes bytes."""

    events: pl.DataFrame  # events.SCHEMA
    transactions: pl.DataFrame  # one row a transaction
    operations: pl.DataFrame  # one row an operation: tps, latency, costs per transaction
    phases: pl.DataFrame  # one row a phase of the driver: traffic
    sync_counts: pl.DataFrame  # op, kind of file, syncs, syncs per transaction
    sync_times: pl.DataFrame  # kind of file, or ALL_FILES: syncs of the window, p50_ns, p99_ns, max_ns
    blocks: pl.DataFrame  # op, kind of command, commands and bytes, and those per transaction
    commands: pl.DataFrame  # the block commands of the window with kind, op, transaction, phase
    flags: pl.DataFrame  # rwbs, commands, bytes in the window
    latencies: pl.DataFrame  # op, latency_ns of each transaction without observation
    observed: pl.DataFrame  # kind of event (OBSERVED), watched: whether it was recorded


class _Part(NamedTuple):
    """Events, the sums over a group of them, and whether they were recorded."""

    events: pl.DataFrame
    sums: list[pl.Expr]
    is_recorded: bool


def build(run: Run) -> Tables:
    """Compute all tables of a run."""
    roles, source = engines.roles(run.driver.engine), block_source(run)
    commands = pl.concat([run.events.clear(), counts.window_blocks(run, source)], how="diagonal")
    if sent := disk.sent_for(run):
        # on a partition: keep the flushes issued for it, even if shared with others
        others = (pl.col("kind") == "flush") & pl.col("begin_ns").is_in(sent["others"]["issue_ns"].implode())
        commands = commands.filter(~others)
    commands, sync = (
        _attribute(table, run.driver.transactions, run.driver.phases) for table in (commands, _syncs(run))
    )
    pairs, databases = sync.select("file", "is_directory").rows(), run.databases
    kinds = {(name, folder): events.file_kind(name, folder, databases) for name, folder in set(pairs)}
    sync = sync.with_columns(pl.Series("kind", [kinds[pair] for pair in pairs], dtype=pl.String))
    by_role = [(pl.col("kind") == role).sum().alias(f"syncs_{role}") for role in roles]
    seen = observed(run)
    parts = [
        _Part(sync, [pl.len().alias("syncs"), *by_role], "syncs" in seen),
        _Part(commands, block_sums(), "commands" in seen),
    ]
    lasted = pl.col("end_ns") - pl.col("begin_ns")
    transactions = _add_sums(_rows(run.driver).with_columns(latency_ns=lasted), "transaction", parts)
    operations = _operations(run, transactions)
    number = operations.select("op", "transactions")
    return Tables(
        events=run.events,
        transactions=transactions,
        operations=operations,
        phases=_add_sums(run.driver.phases.with_columns(duration_ns=lasted), "phase", parts),
        sync_counts=_per_transaction(sync, number, roles, [pl.len().alias("syncs")]),
        sync_times=_sync_times(sync, run.driver.window, roles),
        blocks=_per_transaction(
            commands,
            number,
            events.BLOCK_KINDS,
            [pl.len().alias("commands"), (pl.col("sectors").sum() * 512).alias("bytes")],
        ),
        commands=commands,
        flags=commands.group_by("rwbs")
        .agg(commands=pl.len(), bytes=pl.col("sectors").sum() * 512)
        .sort("commands", "rwbs", descending=[True, False]),
        latencies=run.timing.transactions.select("op", latency_ns=lasted),
        observed=pl.DataFrame({"kind": list(OBSERVED), "watched": [kind in seen for kind in OBSERVED]}),
    )


def _sync_times(sync: pl.DataFrame, window: tuple[int, int], roles: tuple[str, ...]) -> pl.DataFrame:
    """Return the number and the latencies of the window's syncs, by kind of file; several add up to a row."""
    rows = sync.filter(pl.col("begin_ns").is_between(*window, closed="left"))
    took = pl.col("end_ns") - pl.col("begin_ns")
    sums = [
        pl.len().alias("syncs"),
        *(took.quantile(_PERCENTILES[name], "linear").alias(f"{name}_ns") for name in ("p50", "p99")),
        took.max().alias("max_ns"),
    ]
    order = pl.DataFrame({"kind": roles})
    by_kind = order.join(rows.group_by("kind").agg(sums), on="kind", maintain_order="left")
    whole = rows.select(pl.lit(ALL_FILES).alias("kind"), *sums)
    return pl.concat([whole, by_kind]) if by_kind.height else by_kind


def _rows(driver: Driver) -> pl.DataFrame:
    """Return the transactions, with their writes to persistent memory if the engine used any."""
    if driver.persistent is None:
        return driver.transactions
    columns = {f"persistent_{name}": name for name in ("lines", "bytes")}
    persistent = driver.persistent.select("transaction", **columns)
    return driver.transactions.join(persistent, on="transaction", how="left", maintain_order="left")


def observed(run: Run) -> set[str]:
    """Return the kinds of events (OBSERVED) that were recorded; counts of others are unknown."""
    if not run.probes:
        return set()
    return {
        kind
        for kind, probes in OBSERVED.items()
        if not probes or "all" in run.probes or not set(probes).isdisjoint(run.probes)
    }


def _syncs(run: Run) -> pl.DataFrame:
    """Return the sync events of the filesystem that holds the database."""
    sync = run.events.filter((pl.col("source") == "probe") & (pl.col("event") == "sync"))
    named = pl.any_horizontal(pl.col("file").str.starts_with(name) for name in run.databases)
    ours = sync.filter(named)["dev"].unique()
    return sync.filter(pl.col("dev").is_in(ours.to_list())) if len(ours) == 1 else sync


def block_source(run: Run) -> str:
    """Return the source of block commands: the probe, else another recorder."""
    if any(name in ("block", "all") for name in run.probes):
        return "probe"
    if run.witnesses:
        return next(iter(run.witnesses))
    return counts.DEVICE_LOG if run.probes and run.log else "probe"


def names() -> list[str]:
    """Return the names of the tables, which are also file names."""
    return [field.name for field in fields(Tables)]


def _attribute(rows: pl.DataFrame, transactions: pl.DataFrame, phases: pl.DataFrame) -> pl.DataFrame:
    """Set transaction, op and phase of events by their time of issue."""
    transaction, phase = (
        inside(ints(rows["begin_ns"]), ints(table["begin_ns"]), ints(table["end_ns"]))
        for table in (transactions, phases)
    )
    row = pl.Series("transaction", transaction)
    operations = transactions.select("transaction", "op")
    return (
        rows.with_columns(
            pl.when(row >= 0).then(row).alias("transaction"),
            pl.concat([phases["phase"], pl.Series([None], dtype=pl.String)]).gather(phase).alias("phase"),
        )
        .drop("op")
        .join(operations, on="transaction", how="left", maintain_order="left")
    )


def block_sums() -> list[pl.Expr]:
    """Return expressions for BLOCK_COLUMNS of a group of block commands."""
    kind = pl.col("kind")
    write = kind.str.starts_with("write")
    return [
        (kind == "read").sum().alias("block_reads"),
        write.sum().alias("block_writes"),
        (pl.col("sectors").filter(write).sum() * 512).alias("bytes_written"),
        (kind == "flush").sum().alias("flushes"),
        (kind == "write FUA").sum().alias("fua"),
        (kind == "discard").sum().alias("discards"),
    ]


def _add_sums(table: pl.DataFrame, key: str, parts: Sequence[_Part]) -> pl.DataFrame:
    """Append the sums of each part to the rows of `table`; null if the part's events were not recorded."""
    for events_of, sums, is_recorded in parts:
        rows = events_of.filter(pl.col(key).is_not_null()).group_by(key).agg(sums)
        table = table.join(rows, on=key, how="left", maintain_order="left")
        added = pl.col([expression.meta.output_name() for expression in sums]).fill_null(0).cast(pl.Int64)
        table = table.with_columns(pl.when(pl.lit(is_recorded)).then(added))
    return table


def _operations(run: Run, transactions: pl.DataFrame) -> pl.DataFrame:
    """Return a row per operation: costs from the observed run, times from Recorded.timing."""
    ops = transactions["op"].unique().to_list()
    writing = [op for op in ops if kinds()[kind_name(op)].mutates]
    costs = transactions.group_by("op", maintain_order=True).agg(
        transactions=pl.len(),
        # unknown if unknown for any transaction; none of a kind that only reads
        unchanged=pl.when((pl.col("changes").null_count() == 0) & pl.col("op").first().is_in(writing)).then(
            (pl.col("changes") == 0).sum()
        ),
        syncs=pl.col("syncs").mean(),
        **{name: pl.col(name).mean() for name in BLOCK_COLUMNS},
    )
    return costs.join(times(run.timing), on="op", how="left", maintain_order="left")


def times(ran: Driver) -> pl.DataFrame:
    """Return a row per operation: latencies in ns, time of its phases, `tps` (None if that time is 0).

    In a mixed phase the rate of each operation is over the whole phase.
    """
    latency = pl.col("end_ns") - pl.col("begin_ns")
    rows = ran.transactions.group_by("op", maintain_order=True).agg(
        **{f"{name}_ns": latency.quantile(q, "linear") for name, q in _PERCENTILES.items()},
        max_ns=latency.max(),
        mean_ns=latency.mean(),
        number=pl.len(),
    )
    in_phases = ran.transactions.select("phase", "op").unique(maintain_order=True)
    seconds = in_phases.join(ran.phases, on="phase").group_by("op").agg(phase_ns=latency.sum())
    rate = pl.when(pl.col("phase_ns") > 0).then(pl.col("number") * 1e9 / pl.col("phase_ns"))
    joined = rows.join(seconds, on="op", how="left", maintain_order="left")
    return joined.with_columns(tps=rate).drop("number")


def mixed(ran: Driver) -> list[str]:
    """Return the operations that share a phase with others, in the order of their first transactions."""
    in_phases = ran.transactions.select("phase", "op").unique(maintain_order=True)
    shared = in_phases.filter(pl.len().over("phase") > 1)
    return list(shared["op"].unique(maintain_order=True))


def _per_transaction(
    rows: pl.DataFrame, number: pl.DataFrame, kinds: tuple[str, ...], sums: list[pl.Expr]
) -> pl.DataFrame:
    """Return op, kind, sums and sums per transaction, in the order of `kinds`."""
    order = pl.DataFrame({"kind": kinds}).with_row_index("order")
    names = [expression.meta.output_name() for expression in sums]
    rows = rows.filter(pl.col("op").is_not_null()).group_by("op", "kind").agg(sums)
    return (
        number.join(order, how="cross")
        .join(rows, on=["op", "kind"], how="inner", maintain_order="left")
        .with_columns(
            (pl.col(name) / pl.col("transactions")).alias(f"{name}_per_transaction") for name in names
        )
        .drop("order")
    )
