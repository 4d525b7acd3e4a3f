"""`make docs`: write docs/reference/axes.md from the schema."""

from base import scratch
from base.data import load_yaml
from base.paths import ROOT
from commitpath.cells.axes import Axis, aliases, axes, run_axes

INTRODUCTION = (
    "Written by `make docs` from `experiments/schema.yml`, with [defaults]. "
    "Numbers are whole, also as 1e3; `make help experiment` has those allowed."
)


def allowed(axis: Axis) -> str:
    """Return the allowed values of an axis without a list of its own; empty for any text or number."""
    words = axis.allowed()
    return "" if words == "text" or isinstance(axis.spec["default"], int) else f": {words}"


def section(axis: Axis) -> list[str]:
    """Return one axis as Markdown: meaning, default, allowed values by their descriptions."""
    also = f", or {axis.also}" if axis.also else ""
    unit = f" {axis.spec['x-unit']}" if "x-unit" in axis.spec else ""
    default = f" [`{axis.spec['default']}`{unit}]" if axis.spec["default"] != "" else ""
    values = axis.values()
    if "x-glob" in axis.spec:
        values = {name: load_yaml(path)["description"] for name, path in axis.files().items()} | axis.given()
    lines = [
        f"### {axis.variable}{also}",
        f"{axis.spec['description']}{default}{'' if values else allowed(axis)}",
        "",
    ]
    for other, ones in axis.spec.get("x-unless", {}).items():
        lines += [f"Refused with {other.upper()}={'|'.join(ones)}.", ""]
    if not values:
        lines += [f"`{form}` is {meaning}." for form, meaning in axis.given().items()]
        lines += [""] if axis.given() else []
    if values:
        others = {own: f" or `{other}`" for other, own in aliases(axis.name).items()}
        names: dict[str, list[str]] = {}  # by meaning
        for name, meaning in values.items():
            names.setdefault(meaning, []).append(f"`{name}`{others.get(name, '')}")
        lines += [f"- {', '.join(ones)}: {meaning}" for meaning, ones in names.items()] + [""]
    return lines


def page() -> str:
    """Return docs/reference/axes.md: a section for each axis, by group."""
    lines = ["# Axes of a cell", "", INTRODUCTION, ""]
    group = ""
    for axis in [*axes().values(), *run_axes().values()]:
        if axis.spec["x-of"] != group:
            group = axis.spec["x-of"]
            lines += [f"## {group}", ""]
        lines += section(axis)
    return "\n".join(lines) + "\n"


def docs(_: dict[str, str]) -> None:
    """Write docs/reference/axes.md."""
    scratch.write(ROOT / "docs/reference/axes.md", page())
