"""The board's CPU: what an instruction takes by the clock, and its share of a transaction's time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from analysis.ledger.build import Ledger

# A counted loop shows a whole number of ns to this part of it: the readings of the clock around it are
# 60 instructions of its 100 000 (workloads/instruction.c), the clock's step is 16 ns.
TOLERANCE = 0.01
# What the virtual board's kernel is told, under every clock (images/qemu.py), and another board's is not.
VIRTUAL_BOARD = "nokaslr norandmaps randomize_kstack_offset=off"
# A loop takes so many ns an instruction, and 0.06 % for the reading, in virtual time alone. An emulator or a
# CPU that takes just 1 ns there may be.
_COUNTED_NS, _READING = (2, 4, 8), 0.001
# A share over all lies between those of the operations, but for rounding.
_ROUNDED = 1e-9
Document = Mapping[str, Any]


def measured(clock: Document) -> float | None:
    """Return the ns of an instruction as the driver timed it; None if it did not.

    clock: of driver/config.json, or of a manifest.
    """
    ps = clock.get("instruction_ps")
    return ps / 1000 if isinstance(ps, int) and not isinstance(ps, bool) and ps >= 0 else None


def effective(clock: Document) -> str | None:
    """Return the same as CPU_NS is written; what is no whole number is told to the ps."""
    ns = measured(clock)
    if ns is None:
        return None
    whole = round(ns)
    return str(whole) if whole and abs(ns - whole) <= TOLERANCE * whole else f"{ns:.3f}"


def counted(cell: Document, clock: Document) -> int | None:
    """Return the virtual ns of an instruction as read back; None in real time, or where it was not read."""
    told = effective(clock) if is_counted(cell) else None
    return int(told) if told is not None and told.isdigit() else None


def is_counted(cell: Document) -> bool:
    """Whether a cell asks for a time of each instruction."""
    return cell.get("clock") == "virtual"


def sentence(summary: Document) -> str | None:
    """Say what virtual time is, and what it leaves out; None of a run in another time."""
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
    """Return the part of a transaction's latency in which its thread ran, by operation and over all.

    Of the watched run; what other threads ran meanwhile is in the waits. None without a ledger.
    """
    if made is None:
        return None
    sums = [pl.col("cpu_ns").sum(), pl.col("latency_ns").sum()]
    by_op = made.costs.group_by("op", maintain_order=True).agg(sums)
    rows = [(str(op), ran, took) for op, ran, took in by_op.iter_rows()]
    rows.append(("all", *made.costs.select(sums).row(0)))
    return {op: ran / took if took else None for op, ran, took in rows}


def contradictions(cell: Document, summary: Document, manifest: Document) -> list[str]:
    """Say what of this a run's documents do not say alike."""
    return [*_times(cell, summary, manifest), *_in_real_time(cell, manifest), *_shares(summary)]


def _times(cell: Document, summary: Document, manifest: Document) -> Iterator[str]:
    told = effective(manifest["clock"])
    if is_counted(cell) and str(cell["cpu_ns"]) != told:
        yield f"cpu_ns: cell says {cell['cpu_ns']!r}, read back says {told!r}"
    had = counted(cell, manifest["clock"])
    if summary["cpu_ns"] != had:
        yield f"cpu_ns: summary says {summary['cpu_ns']!r}, read back says {had!r}"


def _in_real_time(cell: Document, manifest: Document) -> Iterator[str]:
    """An emulated CPU in real time takes no whole number of ns for an instruction. The command line says that
    it is one, of whatever board the run is said to be."""
    if cell.get("clock") not in ("real", "kvm") or VIRTUAL_BOARD not in str(manifest["board"].get("cmdline")):
        return
    ns = measured(manifest["clock"])
    if ns is not None and any(each <= ns <= each * (1 + _READING) for each in _COUNTED_NS):
        yield f"clock: {cell['clock']}, and an instruction took {ns} ns, as in virtual time alone"


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
