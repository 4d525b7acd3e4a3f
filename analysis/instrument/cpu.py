"""CPU time on the board: the duration of an instruction, and the CPU's share of a transaction's time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from model.cell import Cell

if TYPE_CHECKING:
    from analysis.ledger.build import Ledger

# Relative tolerance of a timed loop. Reading the clock takes 60 instructions of its 100 000
# (workloads/instruction.c); the clock's step is 16 ns.
TOLERANCE = 0.01
# Kernel parameters of the virtual board, under every clock (images/qemu.py); other boards lack them.
VIRTUAL_BOARD = "nokaslr norandmaps randomize_kstack_offset=off"
# ns per instruction, plus 0.06 % for reading the clock, occur only in virtual time. 1 ns is left out: a real
# CPU or an emulator may take that.
_COUNTED_NS, _READING = (2, 4, 8), 0.001
# The share over all lies between the shares of the operations, except for rounding.
_ROUNDED = 1e-9
Document = Mapping[str, Any]


def measured(clock: Document) -> float | None:
    """Return the ns of an instruction as timed by the driver; None if not timed.

    clock: of driver/config.json, or of a manifest.
    """
    ps = clock.get("instruction_ps")
    return ps / 1000 if isinstance(ps, int) and not isinstance(ps, bool) and ps >= 0 else None


def effective(clock: Document) -> str | None:
    """Return the time of an instruction in the form of CPU_NS: whole ns, else with three decimals."""
    ns = measured(clock)
    if ns is None:
        return None
    whole = round(ns)
    return str(whole) if whole and abs(ns - whole) <= TOLERANCE * whole else f"{ns:.3f}"


def counted(cell: Cell, clock: Document) -> int | None:
    """Return the virtual ns of an instruction as read back; None in real time or if not read."""
    ns = effective(clock) if is_counted(cell) else None
    return int(ns) if ns is not None and ns.isdigit() else None


def is_counted(cell: Cell) -> bool:
    """Return whether each instruction has a fixed time in this cell."""
    return cell.clock == "virtual"


def sentence(summary: Document) -> str | None:
    """Return a description of virtual time and its limits; None for another clock."""
    if summary["clock"] != "virtual":
        return None
    ns = summary.get("cpu_ns")
    each = "the same time" if ns is None else f"{ns} ns"
    unread = " (how long was not read back)" if ns is None else ""
    return (
        f"time is virtual: {each} for each instruction{unread}, whatever it does, on one emulated core; "
        "no caches, no branch prediction, no DVFS"
    )


def share(made: Ledger | None) -> dict[str, float | None] | None:
    """Return the share of latency in which the transaction's thread ran, by operation and over all.

    It is measured in the observed run; the time of other threads counts as waiting. None without a ledger.
    """
    if made is None:
        return None
    sums = [pl.col("cpu_ns").sum(), pl.col("latency_ns").sum()]
    by_op = made.costs.group_by("op", maintain_order=True).agg(sums)
    rows = [(str(op), ran, took) for op, ran, took in by_op.iter_rows()]
    rows.append(("all", *made.costs.select(sums).row(0)))
    return {op: ran / took if took else None for op, ran, took in rows}


def contradictions(cell: Cell, summary: Document, manifest: Document) -> list[str]:
    """Return the contradictions about CPU time in a run's documents."""
    return [*_times(cell, summary, manifest), *_in_real_time(cell, manifest), *_shares(summary)]


def _times(cell: Cell, summary: Document, manifest: Document) -> Iterator[str]:
    read_back = effective(manifest["clock"])
    if is_counted(cell) and str(cell.cpu_ns) != read_back:
        yield f"cpu_ns: cell says {cell.cpu_ns!r}, read back says {read_back!r}"
    ns = counted(cell, manifest["clock"])
    if summary["cpu_ns"] != ns:
        yield f"cpu_ns: summary says {summary['cpu_ns']!r}, read back says {ns!r}"


def _in_real_time(cell: Cell, manifest: Document) -> Iterator[str]:
    """Reject a whole number of ns per instruction from an emulated CPU in real time.

    The kernel command line identifies an emulated CPU, whatever the board in the cell.
    """
    if cell.clock not in ("real", "kvm") or VIRTUAL_BOARD not in str(manifest["board"].get("cmdline")):
        return
    ns = measured(manifest["clock"])
    if ns is not None and any(each <= ns <= each * (1 + _READING) for each in _COUNTED_NS):
        yield f"clock: {cell.clock}, and an instruction took {ns} ns, as in virtual time alone"


def _shares(summary: Document) -> Iterator[str]:
    if "cpu_share" not in summary:
        return
    shares = summary["cpu_share"] or {}
    if bool(shares) != bool(summary["ledger"]):
        yield "cpu_share: there with a ledger, and only then"
    elif shares:
        if shares.keys() != summary["tps"].keys():
            yield f"cpu_share: of {', '.join(shares)}; tps is of {', '.join(summary['tps'])}"
        each = [value for op, value in shares.items() if op != "all" and value is not None]
        whole = shares.get("all")
        if wrong := {op: value for op, value in shares.items() if value is not None and not 0 <= value <= 1}:
            yield f"cpu_share: {wrong} is no part of a time"
        if each and whole is not None and not min(each) - _ROUNDED <= whole <= max(each) + _ROUNDED:
            yield f"cpu_share: of all {whole}, which is not between those of the operations"
