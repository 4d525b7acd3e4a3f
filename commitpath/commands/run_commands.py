"""Commands on stored runs: analyse, audit, inspect (or a trace), tree, diff, export, ledger figure, demo."""

import json
import os
import sys
import tarfile
import webbrowser
from pathlib import Path

from base import identity, scratch
from base.errors import BadInputError
from base.paths import CACHE, RESULTS, ROOT
from commitpath.charts.files import figure_path
from commitpath.command_line import stored_run
from commitpath.command_line import variables as variables_table
from commitpath.host import places

# make experiment FS=f2fs MODE=wal N=100 ROWS=1000 (tests/analysis/record-sample.sh)
SAMPLE = ROOT / "tests/analysis/sample-f2fs-wal.tar.xz"
# Without any of them webbrowser would open a browser in the terminal.
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def analyse(variables: dict[str, str]) -> int:
    """Redo tables, figures and report of a stored run."""
    from analysis.__main__ import main as analyse_run

    return analyse_run([stored_run.folder("analyse", variables)])


def audit(variables: dict[str, str]) -> int:
    """Check the correlation of a stored run's records."""
    from analysis.audit import main as audit_run

    return audit_run(stored_run.folder("audit", variables))


def inspect(variables: dict[str, str]) -> int:
    """Write a page of a stored run, or of a foreign trace."""
    from analysis.inspect import write

    if trace := variables.get("TRACE"):
        for name in ("RUN", "TRIAL"):
            if name in variables:
                raise BadInputError(f"{name} and TRACE: a page is of one of them")
        for name in ("TRACE", "FORMAT", "CSV"):
            stored_run.check_utf8(name, variables.get(name, ""))
        check_trace_files(trace, variables)
        return write.of_trace(trace, variables.get("FORMAT", ""), variables.get("CSV", ""))
    for name in ("FORMAT", "CSV"):
        if name in variables:
            raise BadInputError(f"{name} without TRACE: it is of a trace that no run made")
    return write.of_run(stored_run.folder("inspect", variables), variables.get("TRIAL"))


def check_trace_files(trace: str, variables: dict[str, str]) -> None:
    """Refuse a page or a CSV that cannot be written, or would replace something else."""
    from analysis.inspect.external_trace import place as page_of_trace

    if not variables.get("FORMAT", "any"):
        raise BadInputError("FORMAT=: name the text that blkparse -f was given")
    page = page_of_trace(trace)
    if "CSV" in variables:
        table = places.new_file("CSV", variables["CSV"], ".csv")
        # a table with a trace file's name would be read as one
        if os.path.realpath(page) in (os.path.realpath(table), os.path.realpath(page_of_trace(str(table)))):
            raise BadInputError(f"CSV={table}: it is the trace's name, or the page's; name another file")
    if page.is_dir():
        raise BadInputError(f"{page}: the page is written there, but it is a folder; remove it")
    if page.parent.is_dir():
        places.check_writable(page.parent, "the page is written there: copy the trace elsewhere")


def tree(variables: dict[str, str]) -> None:
    """Print the commands that one transaction of a stored run caused."""
    from analysis.tree import printed_tree

    printed_tree.show(stored_run.folder("tree", variables), variables.get("TRANSACTION", "slowest"))


def diff(variables: dict[str, str]) -> None:
    """Print the changes from one stored run to another."""
    from analysis.diff import comparison_files

    names = ("RUN_A", "RUN_B")
    if not any(variables.get(name) for name in names):
        raise variables_table.missing("diff", names)
    runs, faults = list[str](), list[str]()
    for name in names:
        try:
            runs.append(stored_run.folder("diff", variables, name))
        except BadInputError as error:
            faults.append(str(error))
    if faults:
        raise BadInputError("; ".join(faults))
    if Path(runs[0]).resolve() == Path(runs[1]).resolve():
        raise BadInputError(f"RUN_A={runs[0]} and RUN_B={runs[1]} are one run; nothing to compare")
    comparison_files.main(runs[0], runs[1], force=bool(int(variables.get("FORCE", "0"))))


def trace_export(variables: dict[str, str]) -> None:
    """Write a stored run in other tools' formats."""
    from analysis import export

    export.main(stored_run.folder("trace-export", variables), variables.get("FORMAT", "all"))


def ledger(variables: dict[str, str]) -> None:
    """Draw what a transaction writes and flushes, over journal modes and filesystems."""
    from analysis.figures import bytes_by_label

    path = figure_path(variables.get("FIGURE", ""), numbers=False)
    # a folder of results may have blanks in its name
    runs = variables["RUNS"].split() if "RUNS" in variables else [str(RESULTS)]
    if not runs:
        raise variables_table.missing("ledger", ["RUNS"])
    stored_run.check_utf8("RUNS", variables.get("RUNS", ""))
    try:
        found = [
            run if Path(run).is_dir() else stored_run.folder("ledger", {"RUNS": run}, "RUNS") for run in runs
        ]
    except BadInputError as error:
        raise BadInputError(f"{error}; RUNS is runs, or one folder of results") from error
    bytes_by_label.main(path, list({Path(run).resolve(): Path(run) for run in found}.values()))


def demo(_: dict[str, str]) -> int:
    """Unpack the recorded run into the cache, analyse it, and write and open its pages."""
    from analysis.__main__ import main as analyse
    from analysis.inspect import write

    place = CACHE / "demo"
    with scratch.folder(CACHE, "demo") as part:
        with tarfile.open(SAMPLE) as archive:
            archive.extractall(part)
        cell, host = (json.loads((part / f"run/{name}.json").read_text()) for name in ("cell", "host"))
        folder = place / identity.cell_name(cell) / host["run_id"]
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            (part / "run").rename(folder)
    if code := analyse([str(folder)]) or write.of_run(str(folder)):
        return code
    pages = [folder / name for name in ("report.html", "inspect.html")]
    if any(os.environ.get(name) for name in DISPLAYS):
        for page in pages:
            webbrowser.open(page.as_uri())
    else:
        print(f"no desktop to open them on; the pages are {pages[0]} and {pages[1].name}", file=sys.stderr)
    return 0
