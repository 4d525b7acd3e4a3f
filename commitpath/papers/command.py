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
from commitpath.database import select, store
from commitpath.papers import paper
from commitpath.sweep.drive import sweep

# Of a sweep's variables those that say how.
PASSED = ("JOBS", "RETRIES", "EXECUTOR")
# Where it is run, and PROBES as a lab board is not watched; each such place has its own results.
PLACE = ("BOARD", "CLOCK", "DEVICE", "PROBES")


def reproduce(options: dict[str, str]) -> int:
    """Make results/papers/<paper>/; exit code 1 when a run failed or a claim has no verdict."""
    if "PAPER" not in options:
        raise BadInputError(f"make reproduce takes PAPER=<paper>; there is {', '.join(paper.names())}")
    place = {name: options[name] for name in PLACE if name in options}
    chosen = paper.load(options["PAPER"], place)
    passed = {name: options[name] for name in PASSED if name in options}
    # a wrong PAPER is told before the plotting library is loaded
    from commitpath.papers.figures import draw

    code = sweep({"GRID": chosen.grid, **passed, **place})
    whole = RESULTS / "papers" / "-".join([chosen.name, *place.values()])
    with replaced(whole) as folder:
        (folder / "figures").mkdir()
        figures = draw(chosen.name, store.DATABASE, folder / "figures", place, before=whole / "figures")
        missing = write(chosen, folder, figures)
    print(f"claims: {whole / 'claims.html'}")
    return code or (1 if missing else 0)


def write(chosen: paper.Paper, folder: Path, figures: Sequence[Path]) -> int:
    """Write a paper's claims.json and claims.html, print a line for each claim; claims without a verdict.

    figures: files that the page shows.
    """
    # a wrong PAPER is told before these are loaded
    from commitpath.papers import page, verdict
    from commitpath.papers.document import document
    from commitpath.papers.judge import judge
    from commitpath.papers.measured import Database

    with store.opened(write=False) as connection:
        database = Database(select.load(connection), store.label(connection))
    judged = judge(chosen, database)
    content = document(chosen, judged, database)
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
