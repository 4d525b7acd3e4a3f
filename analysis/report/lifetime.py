"""Estimate how long a device's flash lasts: its endurance, over the bytes programmed for each transaction."""

from collections.abc import Mapping
from typing import Any

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
