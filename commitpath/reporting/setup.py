"""`make setup-text`: an "Experimental setup" paragraph, a LaTeX table and a list, of effective settings."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError

from base.errors import BadInputError, LabError
from base.text import counted, did_you_mean, printable, printable_lines
from commitpath.cells import grid as grids
from commitpath.cells.profiles import load_profile
from commitpath.command_line import stored_run
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.items import Item, items, run_of_folder, values
from commitpath.results import query
from commitpath.results.marks import footnotes
from model.cell import SAMPLED

# Items, each with its values, and MISSING if a run to which it applies lacks it.
Reported = list[tuple[Item, list[str]]]
MISSING = "missing"

# Estimated characters in a line of the table's two columns, in LaTeX's article class.
COLUMNS = (26, 45)
# Most lines of a table, and of a row; a longer row is in a list, which may break across pages.
MOST_LINES, MOST_OF_ROW = 45, 2

# Axes that may vary between runs of one setting.
NO_SETTING = (*SAMPLED, "cut_seed")

LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\^{}",
    # LaTeX's usual fonts have other signs in their places
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def setup(options: dict[str, str]) -> None:
    """Print the paragraph and the table of a run, or of the runs of a selector or a grid."""
    if len(options) != 1 or not all(options.values()):
        raise BadInputError(
            "make setup-text takes one of RUN=<a run's folder>, GRID=<grid>, WHERE=<selector>"
        )
    runs = query.current().every
    if "RUN" in options:
        chosen = [run_of_folder(stored_run.folder("setup-text", options), runs)]
        if (status := chosen[0].facts["status"]) != "ok":
            raise BadInputError(
                f"RUN={options['RUN']}: {status}: {'; '.join(chosen[0].reasons)}; only ok runs have a "
                "set-up text"
            )
    elif name := options.get("GRID"):
        # an imported run's grid need not have a file here
        names = grids.run_names(name) if name.endswith(".yml") or name in grids.names() else {name}
        chosen = [run for run in runs if run.grids & names and run.facts["status"] == "ok"]
        if not chosen:
            near = did_you_mean(name, {one for run in runs for one in run.grids})
            raise BadInputError(f"GRID={name}: {near}no ok run of it is here (make results lists them)")
    else:
        selector = options["WHERE"]
        chosen = [run for run in select.selected(list(runs), selector) if run.facts["status"] == "ok"]
        if not chosen:
            near = select.nearest(runs, selector) or "no ok run is like that"
            raise BadInputError(f"{selector}: {near} (make results lists them)")
    print("\n".join(text(chosen, runs, Path(options.get("GRID", "")).stem)))


def text(chosen: Sequence[Run], runs: Sequence[Run], grid: str = "") -> list[str]:
    """Return the lines of the paragraph and the table of runs. runs: all, to find repeats.

    grid: the name of their grid.
    """
    reported = merged([(run.cell.engine, values(run, runs)) for run in chosen])
    return [printable_lines([paragraph(reported, chosen, grid), *footnotes(chosen)]), *latex(reported)]


def merged(runs: Sequence[tuple[str, Mapping[str, str]]]) -> Reported:
    """Return the items that apply to any of the runs, each with its different values in the runs' order.

    runs: the engine and the values of each. A missing value is the last.
    """
    reported = []
    for item in items():
        applying = [texts for engine, texts in runs if item.engine in (None, engine) and item.applies(texts)]
        texts = [texts[item.name] for texts in applying if item.name in texts]
        missing = [MISSING] if len(texts) < len(applying) else []
        if item.name == "kernel":
            # the release, the third word of uname -a
            texts = [(text.split() + [text] * 3)[2] for text in texts]
        if applying:
            reported.append((item, [*dict.fromkeys(texts), *missing]))
    return reported


def listed(texts: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`; of many numbers the least and the greatest.

    Texts with commas are separated by semicolons.
    """
    if all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) for text in texts):
        texts = sorted(texts, key=float)
        if len(texts) > 4:
            return f"{texts[0]} to {texts[-1]} ({len(texts)} values)"
    if len(texts) < 2 or any("," in text for text in texts):
        return "; ".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def paragraph(reported: Reported, runs: Sequence[Run], grid: str = "") -> str:
    """Return the paragraph, in one line."""
    number = len({run.cell_id for run in runs})
    operations = dict.fromkeys(op for run in runs for op in run.summary["tps"] if op != "all")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, autoescape=False
    )
    try:
        engines = [
            environment.from_string(load_profile("engine", engine)["setup"]).render(named(reported, engine))
            for engine in dict.fromkeys(run.cell.engine for run in runs)
        ]
        text = environment.get_template("setup.txt.j2").render(
            named(reported),
            engines=" ".join(engines),
            operations=listed(list(operations)),
            cells=cells(runs),
            grid=Path(grid).stem,
            number=number,
            counted=counted(len({query.unsampled(run.cell) for run in runs}), "cell"),
            cpu_share=cpu_share(runs),
            sql_files=listed(list(dict.fromkeys(run.cell.file for run in runs if run.cell.file))),
        )
    except UndefinedError as error:
        raise LabError(f"no set-up text: the runs do not say all it needs: {error}") from error
    return " ".join(text.split())


def cells(runs: Sequence[Run]) -> str:
    """Return which combinations of the varied settings were run; empty if all were."""
    axes = [name for name in select.varying(runs) if name not in NO_SETTING]
    combinations = dict.fromkeys(tuple(run.shown(name) for name in axes) for run in runs)
    total = math.prod(len(set(values)) for values in zip(*combinations, strict=True))
    if len(combinations) == total:
        return ""
    blocks: list[tuple[tuple[str, ...], ...]] = [
        tuple((value,) for value in values) for values in combinations
    ]
    for at in reversed(range(len(axes))):
        joined: dict[tuple[tuple[str, ...], ...], list[str]] = {}
        for block in blocks:
            joined.setdefault((*block[:at], (), *block[at + 1 :]), []).extend(block[at])
        blocks = [(*rest[:at], tuple(values), *rest[at + 1 :]) for rest, values in joined.items()]
    texts = [
        # without what its engine lacks
        ", ".join(
            f"{name} {listed(values)}"
            for name, values in zip(axes, block, strict=True)
            if values != (select.NONE,)
        )
        for block in blocks
    ]
    return f"Of the {total} combinations of these values {len(combinations)} were run: {'; '.join(texts)}."


def cpu_share(runs: Sequence[Run]) -> str:
    """Return the emulated CPU's share of a transaction's time in virtual time, with a verb."""
    virtual = [run.summary.get("cpu_share") or {} for run in runs if run.summary["clock"] == "virtual"]
    shares = sorted(share["all"] for share in virtual if share.get("all") is not None)
    if not shares:
        return "is not known, as none of the runs was watched for it"
    ends = dict.fromkeys(f"{100 * share:.1f}" for share in (shares[0], shares[-1]))
    unwatched = len(virtual) - len(shares)
    but = f" ({unwatched} of {len(virtual)} runs were not watched for it)" if unwatched else ""
    return f"is {' to '.join(ends)} %{but}"


def named(reported: Reported, engine: str | None = None) -> dict[str, str]:
    """Return item → its values in words, of the items of all runs, or of an engine."""
    texts = {item.name: values for item, values in reported if item.engine == engine}
    words = {name: listed(values) for name, values in texts.items()}
    if spreads := [text for text in texts.get("spread", []) if text != MISSING]:
        most = spreads[0] if len(spreads) == 1 else f"at most {max(spreads, key=float)}"
        words["spread"] = listed([most, *[MISSING] * (MISSING in texts["spread"])])
    return words


def latex(reported: Reported) -> list[str]:
    """Return a row for each item and its values in tables of a page at most; then a list of long rows."""
    tables, filled, long = [list[str]()], 0, list[str]()
    for item, texts in reported:
        # a comma is where a line may break
        text = printable(re.sub(", *", ", ", listed(texts)))
        value = "".join(LATEX.get(c, c) for c in text)
        if lines_of(text, COLUMNS[1]) > MOST_OF_ROW:
            long.append(rf"\item[{item.label}] {value}")
            continue
        row = max(lines_of(item.label.replace("\\", ""), COLUMNS[0]), lines_of(text, COLUMNS[1]))
        if filled + row > MOST_LINES:
            tables, filled = [*tables, []], 0
        tables[-1].append(rf"{item.label} & {value} \\")
        filled += row
    lines = []
    for number, rows in enumerate(tables, 1):
        part = f", part {number} of {len(tables)}" if len(tables) > 1 else ""
        lines += [
            r"\begin{table}",
            rf"\caption{{Experimental setup{part}; values read back from the board}}",
            r"\small",
            r"\begin{tabular}{p{0.33\linewidth}p{0.6\linewidth}}",
            *(r"\hline", *rows, r"\hline"),
            *(r"\end{tabular}", r"\end{table}"),
        ]
    if long:
        lines += [
            "% too long for a table: for an appendix",
            r"\begin{description}",
            *long,
            r"\end{description}",
        ]
    return lines


def lines_of(text: str, columns: int) -> int:
    """Return the estimated number of lines of a text."""
    return max(1, math.ceil(len(text) / columns))
