"""`make tree`: print a transaction's tree, bytes by label, slowest transactions, fitted to the terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from analysis.figures import style
from analysis.inspect.load import Loaded
from analysis.run_files.reading import shown
from analysis.schemas import ledger as schema
from analysis.tree.chain import Node, tree
from base.errors import BadInputError
from base.text import printable
from model import operations

_SLOWEST = 5
# Counts of a transaction: noun, plural ending.
_COUNTS = (("sync", "s"), ("write", "s"), ("flush", "es"))


@dataclass(frozen=True)
class Terminal:
    """Capabilities of the output: columns (None: any number), colour, box-drawing characters."""

    columns: int | None
    color: bool
    unicode: bool

    @classmethod
    def of(cls, stream: TextIO) -> Terminal:
        """Return the capabilities of `stream`."""
        tty = stream.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
        columns = shutil.get_terminal_size().columns if tty else None
        return cls(columns, tty and not plain, (stream.encoding or "").lower().startswith("utf"))

    def line(self, plain: str, text: str, color: str | None = None) -> str:
        """Return `plain` and after it `text` in a colour, cut to the terminal's columns."""
        plain, text = printable(plain), printable(text)
        if self.columns is not None and len(plain) + len(text) > self.columns:
            whole = (plain + text)[: self.columns - 1] + ("…" if self.unicode else "~")
            plain, text = whole[: len(plain)], whole[len(plain) :]
        if self.color and color:
            red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
            text = f"\x1b[38;5;{_nearest(red, green, blue)}m{text}\x1b[0m"
        return (plain + text).rstrip()


def _nearest(red: int, green: int, blue: int) -> int:
    """Return the nearest colour of the 6x6x6 cube of 256-colour terminals."""
    steps = [0 if part < 48 else 1 if part < 115 else (part - 35) // 40 for part in (red, green, blue)]
    return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]


def lines(run: Loaded, transaction: int | None, terminal: Terminal) -> list[str]:
    """Return one transaction (None: the run has none), then the run's largest items."""
    summary = run.run.summary
    head = f"{summary['cell_name']}  {summary['run_id']}  {summary['status'].upper()}"
    out = [terminal.line("", head)]
    out += [terminal.line("  rejected: ", reason) for reason in run.run.rejected]
    if transaction is None:
        out += ["", "The run has no transactions."]
    else:
        out += ["", *_transaction(run, transaction, terminal)]
    out += ["", *_top("Bytes written in the run", run.written(), terminal)]
    if none := run.for_none():
        out += ["", *_top("Of these for no transaction", none, terminal)]
    if transaction is not None:
        out += ["", *_slowest(run, terminal)]
    return out


def _counted(number: float, one: str, end: str) -> str:
    """Return a number with its word: `1 flush`, `2 flushes`, `0.5 flushes`."""
    return f"{number:.4g} {one}{'' if number == 1 else end}"


def _transaction(run: Loaded, number: int, terminal: Terminal) -> list[str]:
    costs = run["costs"].row(number, named=True)
    root = tree(run, number)
    counts = ", ".join(_counted(costs[f"{one}{end}"], one, end) for one, end in _COUNTS)
    written = f"{costs['fua']:.4g} FUA, {costs['bytes'] / 1024:.1f} KiB written"
    for view, text in (("for_others", "of these for others"), ("deferred", "written later")):
        written += f", {costs[view] / 1024:.1f} KiB {text}" if costs[view] else ""
    times = ", ".join(
        f"{word} {costs[f'{name}_ns'] / 1e6:.3f}"
        for name, word in schema.TIMES.items()
        if costs[f"{name}_ns"]
    )
    out = [
        terminal.line("", f"{root.text}: {root.took / 1e6:.3f} ms, {counts}, {written}"),
        terminal.line("", f"ms of it: {times}"),
        "",
        terminal.line("", "   from ms      ms      KiB"),
    ]
    _draw(root, root.begin, "", "", terminal, out)
    labels = {label: costs[label] for label in schema.LABELS}
    return [*out, "", *_top("Bytes written for it", labels, terminal)]


def _draw(node: Node, start: int, here: str, below: str, terminal: Terminal, out: list[str]) -> None:
    size = "" if node.bytes is None else f"{node.bytes / 1024:.{1 if node.bytes > 99 else 3}f}"
    left = f"{(node.begin - start) / 1e6:10.3f}{node.took / 1e6:9.3f}{size:>9}  {here}"
    times = f"{node.times} x " if node.times > 1 else ""
    out.append(terminal.line(left, times + node.text, node.color))
    branch, last, bar = ("├─ ", "└─ ", "│  ") if terminal.unicode else ("|- ", "`- ", "|  ")
    for child in node.children:
        mark, under = (last, "   ") if child is node.children[-1] else (branch, bar)
        _draw(child, start, below + mark, below + under, terminal, out)


def _top(title: str, sizes: dict[str, float], terminal: Terminal) -> list[str]:
    """Return a bar for each label, the largest first."""
    ranked = sorted(((size, label) for label, size in sizes.items() if size), reverse=True)
    total = sum(size for size, _ in ranked)
    room = min((terminal.columns or 100) - 54, 40)
    out = [terminal.line("", title)]
    for size, label in ranked:
        left = f"  {label:<26}{size / 1024:11.1f} KiB {size / total:7.2%}  "
        bar = (
            ("█" if terminal.unicode else "#") * max(round(room * size / ranked[0][0]), 1) if room > 4 else ""
        )
        out.append(terminal.line(left, bar, style.LABELS.get(label)))
    return out if ranked else [*out, "  nothing"]


def _slowest(run: Loaded, terminal: Terminal) -> list[str]:
    rows = run["costs"].sort("latency_ns", "transaction", descending=[True, False]).head(_SLOWEST)
    out = [terminal.line("", "Slowest transactions")]
    for row in rows.iter_rows(named=True):
        left = f"{row['latency_ns'] / 1e6:12.3f} ms  {row['bytes'] / 1024:8.1f} KiB "
        left += f"{row['flushes']:6.4g} {'flush' if row['flushes'] == 1 else 'flushes':7}  "
        text = f"{row['op']} {row['transaction']}"
        out.append(terminal.line(left, text, operations.color(row["op"])))
    return out


def show(folder: str, wanted: str) -> None:
    """Print a transaction of a run by its number or `slowest`. Raises BadInputError, FileError."""
    run, wanted = Loaded(Path(folder)), wanted.casefold()
    count = run["transactions"].height
    if wanted != "slowest" and not (re.fullmatch("[0-9]{1,18}", wanted) and int(wanted) < count):
        allowed = f"0 to {count - 1}, or slowest" if count else "slowest: the run has none"
        raise BadInputError(f"TRANSACTION={shown(wanted)}: no such transaction; expected {allowed}")
    transaction = run["costs"]["latency_ns"].arg_max() if wanted == "slowest" else int(wanted)
    print("\n".join(lines(run, transaction, Terminal.of(sys.stdout))))
