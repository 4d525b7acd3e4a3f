"""`make report-card`: grade which settings a run, or a paper's list of parameters, reports."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.identity import FIRST_ENGINE
from base.text import filled, filled_lines
from commitpath.command_line import stored_run
from commitpath.reporting.items import Item, items, run_of_folder, same_cell, values
from commitpath.results import query
from commitpath.results.marks import footnotes

USAGE = (
    "make report-card takes FILE=<a run's folder>, or FILE=<a .yml file with what a paper says: "
    "`source: its name`, and `reported:` with one line for each item it gives>"
)
LONGEST = 90  # letters of a value


def card(options: dict[str, str]) -> None:
    """Print the card: each item with its reported value or MISSING, and the grade."""
    if not options.get("FILE"):
        raise BadInputError(USAGE)
    stored_run.check_path("FILE", options["FILE"])
    path = stored_run.find("FILE", options["FILE"]) or Path(options["FILE"])
    if not path.exists():
        if path.suffix == ".yml":
            raise BadInputError(f"FILE={path}: no such file, and no run of that name")
        raise stored_run.missing("FILE", options["FILE"])
    if path.is_dir():
        runs = query.current().every
        run = run_of_folder(str(path), runs)
        title, reported, engine = str(path), values(run, runs), run.cell.engine
        # repeats and spread are those of its whole cell
        notes = footnotes([run, *(other for other in same_cell(run, runs) if other is not run)])
        if run.facts["status"] != "ok":
            title += f"  {run.facts['status'].upper()}, its numbers do not count: {'; '.join(run.reasons)}"
    else:
        # a paper's list has the parameters of SQLite
        (title, reported), engine, notes = typed_in(path), FIRST_ENGINE, []
    print(filled_lines([title, *graded(reported, items(engine)), *notes]))


def typed_in(path: Path) -> tuple[str, dict[str, str]]:
    """Return (source, item → value) of a file. Raises BadInputError for an unknown item or value."""
    content = load_yaml(path)
    if not isinstance(content, dict) or set(content) != {"source", "reported"}:
        raise BadInputError(f"{path}: needs source and reported, and nothing else")
    if not isinstance(content["source"], str):
        raise BadInputError(f"{path}: source: not a text (quote it)")
    reported, by_name = content["reported"] or {}, {item.name: item for item in items(FIRST_ENGINE)}
    names = ", ".join(by_name)
    if not isinstance(reported, dict):
        raise BadInputError(f"{path}: reported: one `item: value` a line; items: {names}")
    for name in reported:
        if name not in by_name:
            raise BadInputError(f"{path}: reported.{name}: unknown item; there are {names}")
    return content["source"], {
        name: checked(path, by_name[name], value) for name, value in reported.items() if value is not None
    }


def checked(path: Path, item: Item, value: Any) -> str:
    """Return a typed-in value as text. YAML's false for an unquoted `off` is rejected."""
    for part in value if isinstance(value, list) else [value]:
        # the text of nested lists could be endless: a list may contain itself
        if isinstance(part, list | dict | set | tuple):
            raise BadInputError(f"{path}: reported.{item.name}: neither a value nor a list of values")
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    given = [part.strip().lower() for part in text.split(",")]
    if item.allowed and not set(given) <= set(item.allowed):
        hint = " (quote it: YAML reads off as false)" if isinstance(value, bool) else ""
        raise BadInputError(f"{path}: reported.{item.name}: {text}: it is {', '.join(item.allowed)}{hint}")
    return text


def graded(reported: Mapping[str, str], listed: Sequence[Item]) -> list[str]:
    """Return a line for each item, and the grade with the missing items."""
    applying = [item for item in listed if item.applies(reported)]
    missing = [item for item in applying if item.name not in reported]
    width = max(len(item.name) for item in listed)
    lines = []
    for item in listed:
        if item not in applying:
            text = "does not apply"
        elif item in missing:
            text = f"MISSING{' (essential)' if item.essential else ''}: {item.why}".replace("\\_", "_")
        else:
            value = reported[item.name]
            text = value if len(value) <= LONGEST else f"{value[: LONGEST - 3]}…"
        lines += filled(text, " " * (width + 4), first=f"  {item.name.ljust(width)}  ")
    essential = any(item.essential for item in missing)
    grade = "complete" if not missing else "not comparable" if essential else "incomplete"
    names = f"; missing: {', '.join(item.name for item in missing)}" if missing else ""
    lines.append(f"grade: {grade}, {len(applying) - len(missing)} of {len(applying)} reported{names}")
    return lines
