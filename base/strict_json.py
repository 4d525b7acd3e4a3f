"""Parse strict JSON: no duplicate names, 64-bit integers, finite numbers, valid Unicode, limited depth."""

import json
import math
import re
from typing import Any

# deepest nesting accepted; the deepest document here has 5
DEPTH = 20
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class UnfitError(ValueError):
    """A value is invalid; the message has the place in it, and the allowed values."""


def parse(text: str) -> Any:
    """Return the value of a strict JSON text. Raises UnfitError."""
    try:
        value = json.loads(
            text,
            parse_int=integer,
            parse_float=_float,
            parse_constant=_no_number,
            object_pairs_hook=once_each,
        )
    except UnfitError:
        raise
    except json.JSONDecodeError as error:
        raise UnfitError(f"not JSON (line {error.lineno})") from None
    except (ValueError, RecursionError):
        raise UnfitError("not JSON") from None
    _check_depth(value)
    if _HALF.search(text):  # an escaped surrogate, maybe of a pair
        whole(json.dumps(value, ensure_ascii=False))
    return value


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, for json.loads. Raises UnfitError for a duplicate name.

    Python would take the last of two values, SQLite the first.
    """
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnfitError(f"the name {twice[:100]!r} is in an object twice")
    return values


def integer(digits: str) -> int:
    """Return a whole number of 64 bits, for json.loads. Raises UnfitError.

    Python accepts more bits, and raises ValueError from 4301 digits on.
    """
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise UnfitError("a whole number of more than 64 bits")
    return int(digits)


def _float(digits: str) -> float:
    if not math.isfinite(value := float(digits)):
        raise UnfitError("a number that is too large")
    return value


def _no_number(name: str) -> Any:
    raise UnfitError(f"{name} is not a JSON number")


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > DEPTH:
        raise UnfitError(f"more than {DEPTH} objects and lists within each other")
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if type(inner) is dict or type(inner) is list:
                _check_depth(inner, depth + 1)


def whole(text: str) -> None:
    """Raise UnfitError for text that is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnfitError("text that is not UTF-8") from None
