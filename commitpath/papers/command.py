"""`make reproduce PAPER=apsys17`: sweep a paper's grids, draw its figures, judge its claims."""

import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from base import scratch
from base.errors import BadInputError
from base.paths import RESULTS
from base.text import printable_lines
from commitpath.cells.identities import cell_id
from commitpath.database import store
from commitpath.papers import asked as asking
from commitpath.papers import beforehand, paper
from commitpath.papers.asked import Asked
from commitpath.sweep import drive

# Of a sweep's variables those that say how.
PASSED = ("JOBS", "RETRIES", "EXECUTOR")


def reproduce(options: dict[str, str]) -> int:
    """Make results/papers/<paper>/; exit code 1 when a run failed or a claim is missing one."""
    if "PAPER" not in options:
        raise BadInputError(f"make reproduce takes PAPER=<paper>; there is {', '.join(paper.names())}")
    asked = asking.read(options)
    chosen = paper.load(asked.paper, asked.place, asked.most)
    repeats = drive.whole_number(options, "REPEAT", 1, 1) if "REPEAT" in options else None
    runs, excluded = asking.planned(asked, repeats)
    # a wrong request is told before the plotting library is loaded
    from commitpath.papers.figures import draw

    if asked.lab:
        print(beforehand.said(asked, runs.values()), flush=True)
    passed = {name: options[name] for name in PASSED if name in options}
    # of a part of the paper its figures say what a grid leaves out of them
    told = [] if asked.reduced else excluded
    code = drive.carry_out(runs, told, passed, whole=not (asked.lab or asked.reduced))
    whole = RESULTS / "papers" / asked.name
    with replaced(whole) as folder:
        (folder / "figures").mkdir()
        figures = draw(asked, store.DATABASE, folder / "figures", before=whole / "figures")
        missing = write(chosen, asked, {cell_id(run.cell) for run in runs.values()}, folder, figures)
    print(f"claims: {whole / 'claims.html'}")
    return code or (1 if missing else 0)


def write(chosen: paper.Paper, asked: Asked, cells: set[str], folder: Path, figures: Sequence[Path]) -> int:
    """Write a paper's claims.json and claims.html, print a line for each claim; claims without a verdict.

    cells: ids of those that were asked for. figures: files that the page shows.
    """
    # a wrong PAPER is told before these are loaded
    from commitpath.papers import page, verdict
    from commitpath.papers.document import document
    from commitpath.papers.judge import judge
    from commitpath.results import query

    stored = query.read(store.DATABASE)
    results = query.Results(stored.every, stored.lab, asked=cells)
    judged = judge(chosen, results)
    virtual = query.Results(stored.every, stored.lab)
    beside = judge(paper.load(asked.paper, None, asked.most), virtual) if asked.lab else None
    content = document(chosen, judged, results, asked, beside)
    (folder / "claims.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    (folder / "claims.html").write_text(page.render(content, figures), encoding="utf-8")
    print(printable_lines(page.terminal(content)))
    return sum(one.verdict == verdict.MISSING for one in judged)


@contextlib.contextmanager
def replaced(place: Path) -> Iterator[Path]:
    """A new folder, which takes the old one's place when it is whole."""
    with scratch.folder(place.parent, f".{place.name}") as work:
        fresh = work / place.name
        fresh.mkdir()
        yield fresh
        shutil.rmtree(place, ignore_errors=True)
        fresh.replace(place)
