"""What a run wrote to persistent memory: no block command, so beside the ledger's bytes, with its own label.

The engine's account of it, transaction by transaction (docs/reference/formats.md, persistent.csv).
"""

from __future__ import annotations

from typing import Any

from analysis.adapters.driver import Driver
from model import engines

_COUNTS = ("bytes", "lines")


def label(role: str) -> str:
    """Return what the bytes of a file in persistent memory are called."""
    return f"{engines.files()[role][0]} (PCM)"


def property_of(driver: Driver, name: str) -> int | None:
    """Return a number that the engine says of its persistent memory as a whole; None: it says none."""
    said = str(driver.config[driver.engine.PROPERTIES].get(f"PCM {name}", ""))
    return int(said) if said.isascii() and said.isdigit() else None


def summary(driver: Driver) -> dict[str, Any] | None:
    """Return {label, lines, bytes, ns charged for them: of the run; per_transaction {op or "all": {lines,
    bytes}}}; None: nothing was in such memory."""
    table = driver.persistent
    if table is None:
        return None
    joined = table.join(driver.transactions.select("transaction", "op"), on="transaction", how="left")
    groups = [(str(op), rows) for (op,), rows in joined.group_by("op", maintain_order=True)]
    each = [*groups, ("all", joined)] if groups else []
    return {
        "label": label(table["file"][0]) if table.height else None,
        **{name: property_of(driver, name) for name in (*_COUNTS, "ns")},
        "per_transaction": {op: {name: rows[name].mean() for name in _COUNTS} for op, rows in each},
    }
