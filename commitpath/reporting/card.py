"""`make report-card`: what a run, or a paper's list of parameters, says and leaves out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.identity import FIRST_ENGINE
from base.text import printable_lines
from commitpath.reporting.items import Item, items, run_of_folder, same_cell, values
from commitpath.results import query
from commitpath.results.marks import footnotes

USAGE = (
    "make report-card takes FILE=<a run's folder>, or FILE=<a .yml file with what a paper says: "
    "`source: its name`, and `reported:` with one line for each item it gives>"
)


def card(options: dict[str, str]) -> int:
    """Print the card."""
    if not options.get("FILE"):
        raise BadInputError(USAGE)
    path = Path(options["FILE"])
    if path.is_dir():
        runs = query.current().every
        run = run_of_folder(options["FILE"], runs)
        title, told, engine = str(path), values(run, runs), run.cell.engine
        # repeats and spread are of all of its cell
        notes = footnotes([run, *(other for other in same_cell(run, runs) if other is not run)])
        if run.facts["status"] != "ok":
            title += f"  {run.facts['status'].upper()}, its numbers do not count: {'; '.join(run.reasons)}"
    else:
        # a paper's list is of SQLite's parameters
        (title, told), engine, notes = typed_in(path), FIRST_ENGINE, []
    print(printable_lines([title, *graded(told, items(engine)), *notes]))
    return 0


def typed_in(path: Path) -> tuple[str, dict[str, str]]:
    """(source, item → value) of a file; BadInputError names an unknown item or value."""
    content = load_yaml(path)
    if not isinstance(content, dict) or set(content) != {"source", "reported"}:
        raise BadInputError(f"{path}: needs source and reported, and nothing else")
    if not isinstance(content["source"], str):
        raise BadInputError(f"{path}: source: not a text (quote it)")
    reported = content["reported"] or {}
    if not isinstance(reported, dict):
        raise BadInputError(f"{path}: reported: one `item: value` a line; items: {all_names()}")
    known = {item.name: item for item in items(FIRST_ENGINE)}
    told = {}
    for name, value in reported.items():
        if name not in known:
            raise BadInputError(f"{path}: reported.{name}: unknown item; there are {all_names()}")
        if value is None:
            continue
        told[name] = checked(path, known[name], value)
    return content["source"], told


def checked(path: Path, item: Item, value: Any) -> str:
    """A typed-in value as text; YAML's false for an unquoted `off` is no answer."""
    for part in value if isinstance(value, list) else [value]:
        # text of what has parts in it could have no end: each may be the same list
        if isinstance(part, list | dict | set | tuple):
            raise BadInputError(f"{path}: reported.{item.name}: neither a value nor a list of values")
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    given = [part.strip().lower() for part in text.split(",")]
    if item.allowed and not set(given) <= set(item.allowed):
        hint = " (quote it: YAML reads off as false)" if isinstance(value, bool) else ""
        raise BadInputError(f"{path}: reported.{item.name}: {text}: it is {', '.join(item.allowed)}{hint}")
    return text


def all_names() -> str:
    """The items, for an error."""
    return ", ".join(item.name for item in items(FIRST_ENGINE))


def graded(told: Mapping[str, str], listed: Sequence[Item]) -> list[str]:
    """The card: a line for each item of the list, and the grade with what is missing."""
    asked = [item for item in listed if item.asked(told)]
    missing = [item for item in asked if item.name not in told]
    essential = [item for item in missing if item.essential]
    width = max(len(item.name) for item in listed)
    lines = []
    for item in listed:
        if item not in asked:
            what = "does not apply"
        elif item in missing:
            what = f"MISSING{' (essential)' if item.essential else ''}: {item.why}".replace("\\_", "_")
        else:
            what = told[item.name] if len(told[item.name]) <= 90 else f"{told[item.name][:87]}…"
        lines.append(f"  {item.name.ljust(width)}  {what}")
    grade = "complete" if not missing else "not comparable" if essential else "incomplete"
    names = f"; missing: {', '.join(item.name for item in missing)}" if missing else ""
    lines.append(f"grade: {grade}, {len(asked) - len(missing)} of {len(asked)} reported{names}")
    return lines
