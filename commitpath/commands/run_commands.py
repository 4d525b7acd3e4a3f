"""`make analyse`, `audit`, `inspect`, `tree`, `diff`, `trace-export`, `ledger`: commands on stored runs."""

import os
from pathlib import Path

from base.errors import BadInputError
from base.paths import RESULTS
from commitpath.command_line import stored_run
from commitpath.command_line import variables as variables_table
from commitpath.host import places


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
    from analysis.inspect.__main__ import main as inspect_run

    if trace := variables.get("TRACE"):
        for name in ("RUN", "TRIAL"):
            if name in variables:
                raise BadInputError(f"{name} and TRACE: a page is of one of them")
        for name in ("TRACE", "FORMAT", "CSV"):
            stored_run.check_utf8(name, variables.get(name, ""))
        check_trace_files(trace, variables)
        words = ["--trace", trace]
        for name, option in (("FORMAT", "--format"), ("CSV", "--csv")):
            if name in variables:
                words += [option, variables[name]]
        return inspect_run(words)
    for name in ("FORMAT", "CSV"):
        if name in variables:
            raise BadInputError(f"{name} without TRACE: it is of a trace that no run made")
    trial = [variables["TRIAL"]] if "TRIAL" in variables else []
    return inspect_run([stored_run.folder("inspect", variables), *trial])


def check_trace_files(trace: str, variables: dict[str, str]) -> None:
    """Refuse a page or a CSV that cannot be written, or would replace something else."""
    from analysis.inspect.__main__ import page_of_trace

    if not variables.get("FORMAT", "any"):
        raise BadInputError("FORMAT=: name the text that blkparse -f was given")
    page = page_of_trace(trace)
    if "CSV" in variables:
        table = places.new_file("CSV", variables["CSV"])
        # a table with a trace file's name would be read as one
        if os.path.realpath(page) in (os.path.realpath(table), os.path.realpath(page_of_trace(str(table)))):
            raise BadInputError(f"CSV={table}: it is the trace's name, or the page's; name another file")
    if page.is_dir():
        raise BadInputError(f"{page}: the page is written there, but it is a folder; remove it")
    if page.parent.is_dir():
        places.check_writable(page.parent, "the page is written there: copy the trace elsewhere")


def tree(variables: dict[str, str]) -> int:
    """Print the commands that one transaction of a stored run caused."""
    from analysis.tree.__main__ import main as print_tree

    return print_tree([stored_run.folder("tree", variables), variables.get("TRANSACTION", "slowest")])


def diff(variables: dict[str, str]) -> int:
    """Print the changes from one stored run to another."""
    from analysis.diff.__main__ import main as compare_runs

    names = ("RUN_A", "RUN_B")
    if not any(variables.get(name) for name in names):
        raise BadInputError(f"{' and '.join(names)}: missing; {variables_table.takes('diff')}")
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
    return compare_runs([*runs, *["--force"] * int(variables.get("FORCE", "0"))])


def trace_export(variables: dict[str, str]) -> int:
    """Write a stored run in other tools' formats."""
    from analysis.export.__main__ import main as export_run

    return export_run([stored_run.folder("trace-export", variables), variables.get("FORMAT", "all")])


def ledger(variables: dict[str, str]) -> int:
    """Draw what a transaction writes and flushes, over journal modes and filesystems."""
    from analysis.figures import ledger

    figure = variables.get("FIGURE")
    # a folder of results may have blanks in its name
    runs = variables["RUNS"].split() if "RUNS" in variables else [str(RESULTS)]
    if not figure or not runs:
        raise BadInputError("make ledger takes FIGURE=<file>.svg, .png or .pdf, and RUNS=<folders of runs>")
    if Path(figure).suffix not in ledger.SUFFIXES:
        raise BadInputError(f"FIGURE={figure}: unsupported suffix; use {', '.join(ledger.SUFFIXES)}")
    for variable in ("FIGURE", "RUNS"):
        stored_run.check_utf8(variable, variables.get(variable, ""))
    if not (folder := Path(figure).parent).is_dir():
        raise BadInputError(f"FIGURE: there is no folder {folder}")
    found = [
        run if Path(run).is_dir() else stored_run.folder("ledger", {"RUNS": run}, "RUNS") for run in runs
    ]
    return ledger.main([figure, *found])
