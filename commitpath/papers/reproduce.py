"""`make reproduce PAPER=…`: run a paper's cells, draw its figures, judge its claims, also in variations.

With ROBUST=yes, judge the claims as reproduced and in variations.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from base import scratch
from base.errors import BadInputError
from base.paths import RESULTS
from base.text import printable_lines
from commitpath.cells import samples
from commitpath.cells.grid import Expanded
from commitpath.cells.identities import cell_id
from commitpath.database import store
from commitpath.papers import estimate, paper, request
from commitpath.papers.paper import Paper
from commitpath.papers.request import Request
from commitpath.results import query
from commitpath.sweep import drive, sweep_plan
from commitpath.sweep.sweep_plan import Planned

# Variables of a sweep that are passed on: how it runs.
PASSED = ("JOBS", "RETRIES", "EXECUTOR")


def reproduce(options: dict[str, str]) -> int:
    """Make results/papers/<paper>/. Return 1 when a run failed or a claim lacks one."""
    if "PAPER" not in options:
        raise BadInputError(f"make reproduce takes PAPER=<paper>; there is {', '.join(paper.names())}")
    wanted = request.read(options)
    if options.get("ROBUST") == "yes":
        return vary(wanted, options)
    chosen = wanted.load()
    runs, excluded = request.planned(wanted)
    # reject invalid claims before anything runs
    _ = chosen.claims
    # loads matplotlib, which takes a second: wrong input is reported before
    from commitpath.papers import authors_runs
    from commitpath.papers.figures import draw

    if wanted.lab:
        print(estimate.text(wanted, runs.values()), flush=True)
    passed = {name: options[name] for name in PASSED if name in options}
    # the figures of a reduced request list the cells that a grid excludes
    shown = [] if wanted.reduced else excluded
    code = drive.carry_out(runs, shown, passed, whole=not (wanted.lab or wanted.reduced))
    whole = RESULTS / "papers" / wanted.folder
    with replaced(whole) as folder:
        (folder / "figures").mkdir()
        figures = draw(wanted, store.DATABASE, folder / "figures", before=whole / "figures")
        missing = write(chosen, wanted, {cell_id(run.cell) for run in runs.values()}, folder, figures)
    for table in filter(None, (authors_runs.of_file(path) for path in sorted(whole.glob("figures/*.json")))):
        print(printable_lines([f"predicted: {table['count']}"]))
    print(f"claims: {whole / 'claims.html'}")
    return code or (1 if missing else 0)


def vary(wanted: Request, options: Mapping[str, str]) -> int:
    """Make a folder -robust in results/papers/. Return 1 when a run failed or an outcome lacks one."""
    # loads the analysis, which takes a second: wrong input is reported before
    from commitpath.papers import robust, robust_page
    from commitpath.papers.variations import variations

    if wanted.where or wanted.most or options.keys() & {*samples.VARIABLES}:
        given = ", ".join(("WHERE", *request.MOST, *samples.VARIABLES))
        raise BadInputError(f"ROBUST=yes is of whole claims, each cell once: it does not take {given}")
    passed = {name: options[name] for name in PASSED if name in options}
    jobs = drive.whole_number(options, "JOBS", os.cpu_count() or 1, 1)
    runs, _ = sweep_plan.merge([Expanded(robust.planned(wanted), [])])
    others = len(variations(wanted.load())) - 1
    print(f"as reproduced and in {others} variations: {estimate.of_sweep(runs, jobs)}", flush=True)
    code = drive.carry_out(runs, [], passed, whole=False)
    rows = robust.judged(wanted, stored_results(runs))
    explaining, _ = sweep_plan.merge([Expanded(robust.explaining(wanted, rows), [])])
    if more := {key: run for key, run in explaining.items() if key not in runs}:
        print(f"to explain contradicted claims: {estimate.of_sweep(more, jobs)}", flush=True)
        code = drive.carry_out(more, [], passed, whole=False) or code
        rows = robust.judged(wanted, stored_results(runs | more))
    whole = robust_folder(wanted)
    with replaced(whole) as folder:
        missing = robust_page.write(wanted, rows, folder)
    print(f"robust: {whole / 'robust.html'}")
    return code or (1 if missing else 0)


def robust_folder(wanted: Request) -> Path:
    """Return the folder of a paper's ROBUST=yes."""
    return RESULTS / "papers" / f"{wanted.folder}-robust"


def stored_results(runs: Mapping[str, Planned]) -> query.Results:
    """Return the stored runs; these were requested."""
    stored = query.read(store.DATABASE)
    return query.Results(stored.every, stored.lab, asked={cell_id(run.cell) for run in runs.values()})


def write(chosen: Paper, wanted: Request, cells: set[str], folder: Path, figures: Sequence[Path]) -> int:
    """Write a paper's claims.json and claims.html, print a line for each claim; return how many are missing.

    cells: ids of the requested cells. figures: files that the page shows.
    """
    # wrong input is reported before these are loaded
    from analysis.report import manual
    from commitpath.papers import page, robust, verdict
    from commitpath.papers.document import document
    from commitpath.papers.judge import judge

    stored = query.read(store.DATABASE)
    results = query.Results(stored.every, stored.lab, asked=cells, samples=request.samples(wanted))
    judged = judge(chosen, results)
    virtual = query.Results(stored.every, stored.lab, samples=request.samples(wanted.virtual))
    on_virtual = judge(wanted.virtual.load(), virtual) if wanted.lab else None
    varied = {}
    if robust_folder(wanted).is_dir() and not (wanted.lab or wanted.reduced):
        rows = robust.judged(wanted, query.Results(stored.every, stored.lab))
        # each cell once: with several seeds or boards a claim may have another verdict
        own = {outcome.claim.id: outcome.verdict for outcome in judged}
        varied = {row.claim: row for row in rows if row.verdict == own[row.claim]}
    content = document(chosen, judged, results, wanted, on_virtual, varied)
    (folder / "claims.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    (folder / "claims.html").write_text(page.render(content, figures), encoding="utf-8")
    manual.write(RESULTS)
    print(printable_lines(page.terminal(content)))
    return sum(claim.verdict == verdict.MISSING for claim in judged)


@contextlib.contextmanager
def replaced(place: Path) -> Iterator[Path]:
    """Yield a new folder that replaces `place` when it is complete."""
    with scratch.folder(place.parent, f".{place.name}") as work:
        fresh = work / place.name
        fresh.mkdir()
        yield fresh
        shutil.rmtree(place, ignore_errors=True)
        fresh.replace(place)
