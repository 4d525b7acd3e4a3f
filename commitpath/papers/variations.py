"""Read the changed settings of ROBUST=yes from paper.yml: null device, other fits, `vary`, explanations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from base.errors import BadInputError
from base.text import did_you_mean
from commitpath.cells.axes import axes, own_name
from commitpath.cells.grid import checked_lists
from commitpath.cells.profiles import other_fits
from commitpath.papers.paper import Paper
from commitpath.papers.readings import UNCHANGED, Change, products

OWN_PLACE = "as reproduced"


@dataclass(frozen=True)
class Variation:
    """Settings that are changed together; none: the paper's own place.

    label: of an explanation; null: whether it is the null model of the device; fit: whether it is another
    fit of the device.
    """

    change: Change = UNCHANGED
    label: str = ""
    null: bool = False
    fit: bool = False

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the changed settings."""
        return self.change.settings

    @property
    def name(self) -> str:
        """Return the label, or `axis=value` of each setting."""
        return self.label or " ".join(f"{axis}={value}" for axis, value in self.settings.items()) or OWN_PLACE


def variations(paper: Paper) -> list[Variation]:
    """Return the paper's own place, the null model, other fits of its device, and each of `vary`.

    Raises BadInputError without any.
    """
    if not paper.robust:
        raise BadInputError(f"ROBUST=yes: {paper.name}/paper.yml has no `robust`, which lists what to vary")
    null = Variation(Change(checked(paper, "null", paper.robust["null"])), null=True)
    device = str(paper.constants.get("device", axes()["device"].spec["default"]))
    return [
        Variation(),
        null,
        *(Variation(Change({"device": name}), fit=True) for name in other_fits(device)),
        *(
            Variation(Change(checked(paper, "vary", one)))
            for entry in paper.robust["vary"]
            for one in products(entry)
        ),
    ]


def explanations(paper: Paper) -> list[Variation]:
    """Return what could explain a contradicted claim. Raises BadInputError."""
    return [
        Variation(
            Change(checked(paper, f"explain.{name}", entry["set"]), checked_lists(entry.get("where", {}))),
            name,
        )
        for name, entry in paper.robust.get("explain", {}).items()
    ]


def checked(paper: Paper, place: str, given: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as texts for make variables. Raises BadInputError on an unknown axis or value."""
    found = {}
    for written, value in given.items():
        name = own_name(written)
        if name not in axes():
            near = did_you_mean(name, axes())
            raise BadInputError(
                f"{paper.name}/paper.yml: robust.{place}: {written} is not an axis; {near}".rstrip("; ")
            )
        found[name] = str(axes()[name].parse(str(value), axes()[name].variable))
    return found
