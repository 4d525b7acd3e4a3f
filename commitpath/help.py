"""`make help`: targets from the Makefile, variables from the schema and data files."""

import re
import textwrap

from commitpath.cell import ROOT, Axis, axes, run_axes


def targets() -> list[tuple[str, str]]:
    """(name, text) of each Makefile target that carries a `## text`."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^([a-z-]+):.*?## (.+)$", makefile, re.MULTILINE)


def variable_lines(axis: Axis) -> list[str]:
    """Help of one axis: description, default, allowed values."""
    head = f"  {axis.variable:<17} {axis.spec['description']} [{axis.spec['default']}]"
    return [
        *textwrap.wrap(head, 98, subsequent_indent=" " * 20),
        *textwrap.wrap(
            axis.allowed(), 98, initial_indent=" " * 20, subsequent_indent=" " * 20, break_on_hyphens=False
        ),
    ]


def text() -> str:
    """The whole help text."""
    lines = ["commitpath: from the SQL statement to the flash", "", "Targets:"]
    lines += [f"  {name:<17} {what}" for name, what in targets()]
    group = ""
    for axis in [*axes().values(), *run_axes().values()]:
        if axis.spec["x-of"] != group:
            group = axis.spec["x-of"]
            lines += ["", f"Variables of {group}, with [default]:"]
        lines += variable_lines(axis)
    lines += ["", "Example: make experiment FS=f2fs MODE=wal ROWS=1000 N=100"]
    return "\n".join(lines)
