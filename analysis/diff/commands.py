"""Align a typical pair of transactions of two runs, block command by block command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from analysis.diff import Diff
from analysis.inspect.load import Loaded
from analysis.tree.chain import Node, tree


@dataclass(frozen=True)
class Pair:
    """The n-th transaction of an operation in both runs. rows: lines of a and of b; None: it has no such."""

    op: str
    transactions: tuple[int, int]
    rows: list[tuple[Line | None, Line | None]]


@dataclass(frozen=True)
class Line:
    """A line of a transaction's tree, at a depth."""

    depth: int
    node: Node

    @property
    def kind(self) -> tuple[int, str]:
        """What lines of two runs are aligned by: numbers, such as sectors, differ in any two."""
        return self.depth, re.sub(r"\d+", "", self.node.text)


def typical(diff: Diff) -> list[Pair]:
    """Return the pair of each operation that is closest to the medians of both sides' latencies."""
    runs = Loaded(diff.a.folder), Loaded(diff.b.folder)
    pairs = []
    for (op,), rows in diff.pairs.group_by("op", maintain_order=True):
        off = np.zeros(rows.height)
        for side in "ab":
            latency = rows[f"latency_ns_{side}"].to_numpy()
            off += np.abs(latency - np.median(latency)) / max(float(np.median(latency)), 1.0)
        row = rows.row(int(np.argmin(off)), named=True)
        numbers = int(row["transaction_a"]), int(row["transaction_b"])
        a, b = (list(_lines(tree(run, number))) for run, number in zip(runs, numbers, strict=True))
        pairs.append(Pair(str(op), numbers, _aligned(a, b)))
    return pairs


def _lines(node: Node, depth: int = 0) -> Iterator[Line]:
    yield Line(depth, node)
    for child in node.children:
        yield from _lines(child, depth + 1)


def _aligned(a: list[Line], b: list[Line]) -> list[tuple[Line | None, Line | None]]:
    """Return rows of lines of one kind, and of those that one side lacks, in their order."""
    rows: list[tuple[Line | None, Line | None]] = []
    matcher = SequenceMatcher(None, [line.kind for line in a], [line.kind for line in b], autojunk=False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        left, right = a[a_from:a_to], b[b_from:b_to]
        if tag == "equal":
            rows += zip(left, right, strict=True)
        else:
            rows += [*((line, None) for line in left), *((None, line) for line in right)]
    return rows
