"""Count a run's transactions and costs of one (summary.json); flash lifetime, GB a day, years at a rate."""

from collections.abc import Mapping
from typing import Any


def transactions(summary: Mapping[str, Any]) -> int:
    """Return the number of transactions of a run."""
    return round((summary["tps"]["all"] or 0) * (summary["virtual_seconds"] or 0))


def per_transaction(summary: dict[str, Any]) -> dict[str, float | None]:
    """Return writes, flushes and bytes_written per transaction, each None if not counted.

    They include the writes of close and of write-back.
    """
    count, names = transactions(summary), ("writes", "flushes", "bytes_written")
    counted = {name: summary["block"][name] for name in names}
    return {name: value / count if count and value is not None else None for name, value in counted.items()}


DAY_S = 86400
YEAR_S = 365.25 * DAY_S
GB = 1e9


def lifetime(worn: Mapping[str, Any], count: int, profile: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the transactions until the flash is worn out, and the endurance; None if it is unknown.

    worn: `flash` of summary.json, of `count` transactions. profile: the device's.
    """
    endurance, programmed = profile.get("endurance"), worn["programmed_bytes"]
    if not endurance or not programmed or not count:
        return None
    bytes_left = endurance["gb"] * GB * endurance["cycles"]
    return {
        "gb": endurance["gb"],
        "cycles": endurance["cycles"],
        "host_bytes_per_transaction": worn["host_bytes"] / count,
        "transactions": bytes_left * count / programmed,
    }


def gb_a_day(bytes_per_transaction: float, per_second: float) -> float:
    """Return the GB that a rate of transactions writes in a day."""
    return bytes_per_transaction * per_second * DAY_S / GB


def years(transactions: float, per_second: float) -> float:
    """Return the years until so many transactions are done."""
    return transactions / per_second / YEAR_S
