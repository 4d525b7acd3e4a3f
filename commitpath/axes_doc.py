"""docs/axes.md, from the schema: python -m commitpath.axes_doc."""

from base.data import load_yaml
from commitpath.axes import Axis, aliases, axes, run_axes


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


def main() -> None:
    """Print the page."""
    print("# Axes of a cell\n\nWritten by `make docs` from `experiments/schema.yml`; edit that.\n")
    group = ""
    for axis in [*axes().values(), *run_axes().values()]:
        if axis.spec["x-of"] != group:
            group = axis.spec["x-of"]
            print(f"## {group}\n")
        print("\n".join(section(axis)))


if __name__ == "__main__":
    main()
