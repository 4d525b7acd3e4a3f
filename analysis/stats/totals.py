"""Number of transactions of a run, and writes, flushes and bytes for each, from its summary."""

from typing import Any


def transactions(summary: dict[str, Any]) -> int:
    """Return the number of transactions of a run."""
    return round((summary["tps"]["all"] or 0) * (summary["virtual_seconds"] or 0))


def per_transaction(summary: dict[str, Any]) -> dict[str, float | None]:
    """Return writes, flushes and bytes_written per transaction, each None if not counted.

    They include the writes of close and of write-back.
    """
    count, names = transactions(summary), ("writes", "flushes", "bytes_written")
    counted = {name: summary["block"][name] for name in names}
    return {name: value / count if count and value is not None else None for name, value in counted.items()}
