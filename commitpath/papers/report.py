"""What factors do, as Markdown for a doc: python -m commitpath.papers.report FIGURES/factors.json."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from analysis.files import read_json
from base.errors import BadInput


def markdown(told: dict[str, Any]) -> str:
    """The sentences of each operation, a table of shares, and one of the levels' ratios."""
    fits = {op: fit for op, fit in told["fits"].items() if fit}
    terms = {op: {term["term"]: term for term in fit["terms"]} for op, fit in fits.items()}
    lines = [f"- {' '.join(told['words'][op])}" for op in fits]
    head = f"{' | '.join(fits)} |"
    rule = "---|" * len(fits)
    first = next(iter(terms.values()), {})
    lines += ["", f"| share of the variance of log TPS, % | {head}", f"|---|{rule}"]
    for name in sorted(first, key=lambda name: -first[name]["share"]):
        lines.append(row(name, [f"{100 * of_op[name]['share']:.2f}" for of_op in terms.values()]))
    lines.append(row("three-way and higher", [f"{100 * fit['residual']:.2f}" for fit in fits.values()]))
    lines += ["", f"| level, TPS over the geometric mean of its factor | {head}", f"|---|{rule}"]
    for name, term in first.items():
        if " × " not in name:
            for level in term["ratios"]:
                ratios = [f"{of_op[name]['ratios'][level]:.3f}" for of_op in terms.values()]
                lines.append(row(f"{name}: {level}", ratios))
    means = [f"{fit['geometric_mean_tps']:.1f}" for fit in fits.values()]
    return "\n".join([*lines, row("geometric mean, TPS", means)]) + "\n"


def row(name: str, values: list[str]) -> str:
    """A row of a table."""
    return f"| {name} | {' | '.join(values)} |"


def main(arguments: list[str]) -> int:
    """Run the command line and return its exit status: 0, 2 wrong usage, 3 bad input."""
    if len(arguments) != 1:
        print("usage: python -m commitpath.papers.report FIGURES/factors.json", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    try:
        told = read_json(path)
        if not {"fits", "words"} <= set(told):
            raise BadInput(path, "", "no fits", "the numbers of a figure of factors")
    except BadInput as error:
        print(f"analysis: {error}", file=sys.stderr)
        return 3
    print(markdown(told), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
