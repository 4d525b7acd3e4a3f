"""`make setup-text`: an "Experimental setup" paragraph and a LaTeX table, from effective settings."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError

from base.errors import BadInputError, LabError
from base.text import printable, printable_lines
from commitpath.cells.profiles import load_profile
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.items import Item, items, run_of_folder, values
from commitpath.results import query
from commitpath.results.marks import footnotes

# Items, each with its values, and MISSING where a run that should say it does not.
Reported = list[tuple[Item, list[str]]]
MISSING = "missing"

# Of what varies between runs, what is no setting of a cell.
NO_SETTING = ("seed", "cut_seed")

LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\^{}",
}


def setup(options: dict[str, str]) -> int:
    """Print the paragraph and the table of a run, or of what a selector or a grid names."""
    if len(options) != 1 or not all(options.values()):
        raise BadInputError(
            "make setup-text takes one of RUN=<a run's folder>, GRID=<grid>, WHERE=<selector>"
        )
    runs = query.current().every
    if "RUN" in options:
        chosen = [run_of_folder(options["RUN"], runs)]
        if (status := chosen[0].facts["status"]) != "ok":
            raise BadInputError(
                f"RUN={options['RUN']}: {status}: {'; '.join(chosen[0].reasons)}; a set-up is told of runs "
                "that count"
            )
    else:
        selector = options.get("WHERE") or f"grid={options['GRID']}"
        chosen = [run for run in select.selected(list(runs), selector) if run.facts["status"] == "ok"]
        if not chosen:
            raise BadInputError(f"{selector}: no ok run is like that (make results lists them)")
    found = merged([(run.cell.engine, values(run, runs)) for run in chosen])
    print(printable_lines([paragraph(found, chosen), *footnotes(chosen)]))
    print("\n".join(latex(found)))
    return 0


def merged(runs: Sequence[tuple[str, Mapping[str, str]]]) -> Reported:
    """The items that are asked of any of the runs, each with its different values in the runs' order.

    runs: of each its engine and what it says. A value that is not there is missing, last of all.
    """
    found = []
    for item in items():
        asked = [one for engine, one in runs if item.engine in (None, engine) and item.asked(one)]
        told = [one[item.name] for one in asked if item.name in one]
        texts = [short_kernel(text) if item.name == "kernel" else text for text in told]
        if asked:
            missing = [MISSING] if len(told) < len(asked) else []
            found.append((item, [*dict.fromkeys(texts), *missing]))
    return found


def short_kernel(uname: str) -> str:
    """The release and build of `uname -a`."""
    words = uname.split()
    return words[2] if len(words) > 2 else uname


def listed(texts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`, nothing of none; of many numbers the least and the greatest."""
    if len(texts) > 4 and all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) for text in texts):
        numbers = sorted(texts, key=float)
        return f"{numbers[0]} to {numbers[-1]} ({len(texts)} values)"
    return "".join(texts) if len(texts) < 2 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def paragraph(found: Reported, runs: Sequence[Run]) -> str:
    """The paragraph, in one line."""
    operations = dict.fromkeys(op for run in runs for op in run.summary["tps"] if op != "all")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, autoescape=False
    )
    try:
        engines = [
            environment.from_string(load_profile("engine", engine)["setup"]).render(named(found, engine))
            for engine in dict.fromkeys(run.cell.engine for run in runs)
        ]
        text = environment.get_template("setup.txt.j2").render(
            named(found),
            engines=" ".join(engines),
            operations=listed(list(operations)),
            cells=cells(runs),
            cpu_share=cpu_share(runs),
            sql_files=listed(list(dict.fromkeys(run.cell.file for run in runs if run.cell.file))),
        )
    except UndefinedError as error:
        raise LabError(f"no set-up text: the runs do not say all it needs: {error}") from error
    return " ".join(text.split())


def cells(runs: Sequence[Run]) -> str:
    """Return which combinations of the settings that vary were run; nothing where all of them were."""
    # an engine that lacks an axis is not at another value of it
    given = {name: {run.shown(name) for run in runs} - {select.NONE} for name in select.varying(runs)}
    axes = [name for name, values in given.items() if len(values) > 1 and name not in NO_SETTING]
    run = dict.fromkeys(tuple(one.shown(name) for name in axes) for one in runs)
    each = [dict.fromkeys(values) for values in zip(*run, strict=True)]
    if len(run) == (all_of_them := math.prod(map(len, each))):
        return ""
    blocks: list[tuple[tuple[str, ...], ...]] = [tuple((value,) for value in values) for values in run]
    for at in reversed(range(len(axes))):
        joined: dict[tuple[Any, ...], list[str]] = {}
        for block in blocks:
            joined.setdefault((*block[:at], None, *block[at + 1 :]), []).extend(block[at])
        blocks = [(*rest[:at], tuple(values), *rest[at + 1 :]) for rest, values in joined.items()]
    told = [
        ", ".join(f"{name} {listed(values)}" for name, values in zip(axes, block, strict=True))
        for block in blocks
    ]
    return f"Of the {all_of_them} combinations of these values {len(run)} were run: {'; '.join(told)}."


def cpu_share(runs: Sequence[Run]) -> str:
    """The emulated CPU's share of a transaction's time in the runs in virtual time, in words."""
    virtual = [run.summary.get("cpu_share") for run in runs if run.summary["clock"] == "virtual"]
    shares = sorted(shares["all"] for shares in virtual if shares and shares.get("all") is not None)
    if not shares:
        return "is not known, as none of the runs was watched for it"
    ends = dict.fromkeys(f"{100 * share:.1f}" for share in (shares[0], shares[-1]))
    unwatched = len(virtual) - len(shares)
    but = f" ({unwatched} of {len(virtual)} runs were not watched for it)" if unwatched else ""
    return f"is {' to '.join(ends)} %{but}"


def named(found: Reported, engine: str | None = None) -> dict[str, str]:
    """Item → its values in words, of what all runs report, or of an engine's own."""
    told = {item.name: texts for item, texts in found if item.engine == engine}
    words = {name: listed(texts) for name, texts in told.items()}
    if known := [text for text in told.get("spread", []) if text != MISSING]:
        most = known[0] if len(known) == 1 else f"at most {max(known, key=float)}"
        words["spread"] = listed([most, *[MISSING] * (MISSING in told["spread"])])
    return words


def latex(found: Reported) -> list[str]:
    """A table with a line for each item; values that the sweep varies are all there."""
    lines = [
        r"\begin{table}",
        r"\caption{Experimental setup; values read back from the board}",
        r"\begin{tabular}{lp{0.6\linewidth}}",
        r"\hline",
    ]
    for item, texts in found:
        # a comma is where a line may break
        text = listed(texts).replace(",", ", ").replace(",  ", ", ")
        lines.append(f"{item.label} & {''.join(LATEX.get(c, c) for c in printable(text))} \\\\")
    return [*lines, r"\hline", r"\end{tabular}", r"\end{table}"]
