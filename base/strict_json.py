"""JSON that any reader reads alike: each name once, numbers of 64 bits, text that is Unicode."""

import json
import math
import re
from typing import Any

# objects and lists within each other; the deepest document there is has 5
DEPTH = 20
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class UnfitError(ValueError):
    """A value is not what it should be; the message says where in it, and what is allowed."""


def parse(text: str) -> Any:
    """Return the value of a JSON text that any reader reads alike. Raises UnfitError."""
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
    _not_deep(value)
    if _HALF.search(text):  # an escape; whether it is one of a pair only the value says
        whole(json.dumps(value, ensure_ascii=False))
    return value


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, for json.loads. Raises UnfitError at a name that is there twice.

    Of two values of a name Python takes the last, SQLite the first.
    """
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnfitError(f"the name {twice[:100]!r} is in an object twice")
    return made


def integer(digits: str) -> int:
    """Return a whole number of 64 bits, for json.loads. Raises UnfitError.

    Python raises a ValueError of its own from 4301 digits on, and takes any number of bits below.
    """
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise UnfitError("a whole number of more than 64 bits")
    return int(digits)


def _float(digits: str) -> float:
    if not math.isfinite(value := float(digits)):
        raise UnfitError("a number that is too large")
    return value


def _no_number(name: str) -> Any:
    raise UnfitError(f"{name} is no number of JSON")


def _not_deep(value: Any, depth: int = 0) -> None:
    if depth > DEPTH:
        raise UnfitError(f"more than {DEPTH} objects and lists within each other")
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if type(inner) is dict or type(inner) is list:
                _not_deep(inner, depth + 1)


def whole(text: str) -> None:
    """Refuse text that is not Unicode. Raises UnfitError."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnfitError("text that is not UTF-8") from None
