"""Is a stored cell one that a commitpath can have made?

Not only this one: an older one had fewer axes, a newer one has more, and another lab has
device profiles and boards of its own.
"""

import functools
from typing import Any

from analysis.documents import UnfitError, Validator, validator
from base import identity
from commitpath.axes import Axis, axes
from commitpath.identities import at_default, complete

# Without these no run is told from another (commitpath/reporting, analysis/consistent.py).
_REQUIRED = (
    *("clock", "device", "fs", "journal_mode", "n", "probes", "profiles", "rows", "seed", "sqlite"),
    *("synchronous", "workload"),
)
_NAME = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}
_TEXT = {"type": "string", "maxLength": 10_000}
_TEXTS = {"type": "array", "items": _TEXT}
_PAIRS = {"type": "object", "propertyNames": _NAME}


def check(cell: Any, called: str) -> None:
    """Refuse what is no cell, or not the one with that id. Raises UnfitError."""
    _rule()(cell)
    if both := identity.twice(cell):
        raise UnfitError(f"{both[0]}: it is there under two names")
    _validator()(identity.current(cell))
    if (own := identity.cell_id(cell)) != called:
        raise UnfitError(f"its cell has another id: {own}")
    # an axis that came later is in neither
    true = set(at_default(complete(cell))) & identity.current(cell).keys()
    told = set(cell.get("at_default", true)) & axes().keys()
    if wrong := sorted(told ^ true):
        raise UnfitError(f"{wrong[0]}: at_default and its value say two things")


@functools.cache
def _rule() -> Validator:
    """What a stored cell must be before it is read by either rule."""
    profiles = {"type": "object", "additionalProperties": {"type": "object"}}
    names = {"type": "array", "items": {"type": "string"}}
    properties = {"profiles": profiles, "at_default": names}
    return validator({"type": "object", "required": ["profiles"], "properties": properties})


@functools.cache
def _validator() -> Validator:
    profile: dict[str, Any] = {
        "device": {"driver": _NAME, "geometry": _PAIRS, "timing": _PAIRS},
        "fs": {"type": _NAME, "mkfs": _TEXTS, "mount": _TEXTS},
        "workload": {"driver_workload": _NAME, "phases": {"type": "array", "items": _NAME}},
    }
    profiles = {
        name: {"type": "object", "required": list(parts)[:1], "properties": parts}
        for name, parts in profile.items()
    }
    known: dict[str, Any] = {name: _axis(axis) for name, axis in axes().items()}
    known["profiles"] = {
        "type": "object",
        "required": list(profiles),
        "properties": profiles,
        "additionalProperties": {"type": "object"},
    }
    return validator(
        {
            "type": "object",
            "required": list(_REQUIRED),
            "properties": known,
            "propertyNames": {"pattern": "^[a-z][a-z0-9_]{0,49}$"},
            "additionalProperties": {"type": ["string", "number", "boolean", "null"], "maxLength": 10_000},
        }
    )


def _axis(axis: Axis) -> dict[str, Any]:
    """What a value of an axis may be in any lab: its type and range, but for files any name."""
    if "x-glob" in axis.spec or "x-glob-file" in axis.spec:
        return _NAME
    if "x-glob-list" in axis.spec:
        return {"type": "string", "pattern": "^[a-z0-9_,]{0,1000}$"}
    kept = ("type", "enum", "minimum", "maximum", "pattern")
    known = {key: axis.spec[key] for key in kept if key in axis.spec}
    return {**known, "maxLength": 10_000}
