"""Build the tree of one transaction's work: file calls, syncs, journal commits, block commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from analysis.figures import style
from analysis.inspect.load import Loaded
from analysis.ledger import wal_checkpoints
from analysis.ledger.sums import WORDS
from model import operations

Row = dict[str, Any]
_SYNC_CALLS = {"kernel": "sync", "io_uring": "io_uring fsync"}


@dataclass
class Node:
    """A line of the tree. Times are ns."""

    begin: int
    took: int
    text: str
    color: str
    bytes: int | None = None
    times: int = 1  # number of equal lines folded into it
    children: list[Node] = field(default_factory=list)


def tree(run: Loaded, transaction: int) -> Node:
    """Return the transaction with all work attributed to it as children."""
    row = run["transactions"].row(transaction, named=True)
    root = _node(row, f"{row['op']} {transaction}", operations.color(row["op"]))
    shares = run["shares"].filter(pl.col("transaction") == transaction)
    share = dict(zip(shares["command"].to_list(), shares["share"].to_list(), strict=True))
    mine = (pl.col("transaction") == transaction) | pl.col("command").is_in(list(share))
    late = run["deferred"].filter(pl.col("transaction") == transaction)
    nodes: dict[tuple[str, int | None], Node] = {}

    def add(key: tuple[str, int | None], node: Node, *above: tuple[str, int | None]) -> None:
        nodes[key] = node
        parent = next((nodes[place] for place in above if place in nodes), root)
        parent.children.append(node)

    for number, checkpoint in _rows(run["wal"], pl.col("transaction") == transaction):
        add(("wal", number), _node(checkpoint, wal_checkpoints.words(checkpoint), style.FILES["wal"]))
    for number, call in _rows(run["vfs"], pl.col("transaction") == transaction):
        add(("vfs", number), _call(call), ("wal", call["wal"]))
    for number, sync in _rows(run["syncs"], pl.col("transaction") == transaction):
        add(("sync", number), _sync(sync), ("vfs", sync["vfs_call"]))
    for _, command in _rows(run["ledger"], mine):
        above = (("sync", command["sync"]), ("vfs", command["vfs_call"]))
        journal = next((name for name in ("commit", "checkpoint") if command[name] is not None), None)
        if journal is None:
            add(("command", command["command"]), _command(command, share), *above)
            continue
        place = (journal, command[journal])
        if place not in nodes:
            add(place, _journal(run, journal, command[journal]), *above)
        add(("command", command["command"]), _command(command, share), place)
    commands = run["ledger"].select("command", "rwbs", "kind", "issue_ns", "complete_ns")
    for command in late.join(commands, on="command").iter_rows(named=True):
        root.children.append(_deferred(command))
    return _folded(root)


def _rows(table: pl.DataFrame, which: pl.Expr) -> Iterator[tuple[int, Row]]:
    """Yield (row number, row) of the matching rows."""
    for row in table.with_row_index("row").filter(which).iter_rows(named=True):
        yield row.pop("row"), row


def _node(row: Row, text: str, color: str, size: int | None = None) -> Node:
    return Node(row["begin_ns"], row["end_ns"] - row["begin_ns"], style.clean(text), color, size)


def _call(row: Row) -> Node:
    written = row["bytes"] if row["op"] == "write" else None
    return _node(row, f"{row['op']} {row['file']}", style.FILES.get(row["file"], style.SQL), written)


def _sync(row: Row) -> Node:
    call = _SYNC_CALLS.get(row["caller"], row["caller"])
    return _node(
        row, f"{call} {row['name'] or 'inode ' + str(row['inode'])}", style.FILES[row["file"] or "other"]
    )


def _journal(run: Loaded, kind: str, place: int) -> Node:
    if kind == "commit":
        row = run["commits"].row(place, named=True)
        text = f"journal commit {row['commit']}, {row['blocks']} blocks logged"
        return _node(row, text, style.LABELS["filesystem journal"])
    row = run["checkpoints"].row(place, named=True)
    text = f"checkpoint {row['checkpoint']} ({run.reason(row['reason'])})"
    return _node(row, text, style.LABELS["checkpoint pack"])


def _command(row: Row, share: dict[int, float]) -> Node:
    color = (style.LABELS | style.COMMANDS)[row["kind"]]
    sector = "" if row["sector"] is None else f" at {row['sector']}"
    part = f"{share[row['command']]:.0%} of " if row["command"] in share else ""
    by = "" if row["how"] == "in" else f" ({row['how']}, {row['comm']})"
    text = style.clean(f"{part}{row['rwbs']} {row['kind']}{sector}{by}")
    took = row["complete_ns"] - row["issue_ns"]
    return Node(row["issue_ns"], took, text, color, row["bytes"] or None)


def _deferred(row: Row) -> Node:
    """Return a deferred command, with the bytes that hold the transaction's content."""
    by = WORDS[row["no_transaction"]] if row["made_by"] is None else f"by transaction {row['made_by']}"
    color = (style.LABELS | style.COMMANDS)[row["kind"]]
    text = style.clean(f"deferred, {by}: {row['rwbs']} {row['kind']}")
    return Node(row["issue_ns"], row["complete_ns"] - row["issue_ns"], text, color, round(row["bytes"]))


def _folded(node: Node) -> Node:
    """Return the tree in order of time, with equal neighbours folded into one line."""
    children: list[Node] = []
    for child in sorted(map(_folded, node.children), key=lambda child: child.begin):
        last = children[-1] if children else child
        if last is child or last.children or child.children or child.text != last.text:
            children.append(child)
            continue
        last.took += child.took
        last.times += 1
        if child.bytes is not None:
            last.bytes = (last.bytes or 0) + child.bytes
    return replace(node, children=children)
