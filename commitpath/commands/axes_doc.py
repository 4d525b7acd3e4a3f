"""`make docs`: docs/reference/axes.md, from the schema."""

from base import scratch
from base.data import load_yaml
from base.paths import ROOT
from commitpath.cells.axes import Axis, aliases, axes, run_axes


def section(axis: Axis) -> list[str]:
    """One axis as Markdown: meaning, default, allowed values, and what each file says."""
    also = f", or {axis.also}" if axis.also else ""
    lines = [
        f"### {axis.variable}{also}",
        f"{axis.spec['description']}. Default: `{axis.spec['default']}`.",
        "",
    ]
    for other, ones in axis.spec.get("x-unless", {}).items():
        lines += [f"It says nothing with {' or '.join(f'{other.upper()}={one}' for one in ones)}.", ""]
    values = axis.values()
    if "x-glob" in axis.spec:
        values = {name: load_yaml(path)["description"] for name, path in axis.files().items()} | axis.given()
    if values:
        lines += ["| value | what it is |", "|---|---|"]
        others = {own: f" or `{other}`" for other, own in aliases(axis.name).items()}
        lines += [f"| `{name}`{others.get(name, '')} | {what} |" for name, what in values.items()]
    else:
        lines.append(f"Allowed: {axis.allowed()}.")
    return [*lines, ""]


def page() -> str:
    """Return the page."""
    lines = ["# Axes of a cell", "", "Written by `make docs` from `experiments/schema.yml`; edit that.", ""]
    group = ""
    for axis in [*axes().values(), *run_axes().values()]:
        if axis.spec["x-of"] != group:
            group = axis.spec["x-of"]
            lines += [f"## {group}", ""]
        lines += section(axis)
    return "\n".join(lines) + "\n"


def docs(_: dict[str, str]) -> int:
    """Write the page."""
    with scratch.whole(ROOT / "docs/reference/axes.md") as part:
        part.write_text(page())
    return 0
