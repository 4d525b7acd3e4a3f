"""Sum up writes to persistent memory, which no block command shows, so the ledger's bytes exclude them.

Source: the engine's count per transaction (docs/reference/formats.md, persistent.csv).
"""

from typing import Any

from analysis.adapters.driver import Driver
from model import engines

_COUNTS = ("bytes", "lines")


def label(role: str) -> str:
    """Return the label of bytes of a file in persistent memory."""
    return f"{engines.files()[role][0]} (PCM)"


def property_of(driver: Driver, name: str) -> int | None:
    """Return a total of the engine's persistent memory; None if not reported."""
    value = str(driver.config[driver.engine.PROPERTIES].get(f"PCM {name}", ""))
    return int(value) if value.isascii() and value.isdigit() else None


def summary(driver: Driver) -> dict[str, Any] | None:
    """Return label, lines, bytes, ns charged, and `per_transaction` {op or "all": {lines, bytes}}.

    Return None without persistent memory.
    """
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
