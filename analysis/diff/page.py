"""Write the comparison of two runs: diff.html (a single file), diff.json and transactions.csv."""

import json
import os
import shutil
from pathlib import Path

from markupsafe import Markup

from analysis.diff import WHOLE, Diff, commands, figure, terminal, words
from analysis.figures import style
from analysis.report import html_page, manual
from analysis.run_files.stored import Stored
from analysis.run_files.table_files import csv
from base import scratch


def write(diff: Diff) -> Path:
    """Write the diff's folder next to the cells' folders, or next to the run, and return the page's path."""
    name = f"{_name(diff.a)}--{_name(diff.b)}"
    folder = manual.above(diff.a.folder, diff.a.summary["cell_name"]) / "diffs" / name
    with scratch.folder(folder.parent, ".diff") as work:
        fresh = work / name
        fresh.mkdir()
        figure.render(diff, fresh / "diff.svg")
        csv(diff.pairs, fresh / "transactions.csv")
        (fresh / "diff.json").write_text(json.dumps(_json(diff), indent=2) + "\n")
        page = _page(diff, fresh / "diff.svg", folder)
        (fresh / "diff.html").write_text(page, encoding="utf-8", errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.replace(folder)
    return folder / "diff.html"


def _name(run: Stored) -> str:
    return f"{run.summary['cell_id']}-{run.summary['run_id']}"


def _json(diff: Diff) -> dict[str, object]:
    return {
        "a": str(diff.a.folder),
        "b": str(diff.b.folder),
        "names": diff.names,
        "forced": diff.forced,
        "durability": diff.durability,
        "profiles": diff.profiles,
        "unpaired": diff.unpaired,
        "words": words.sentences(diff),
        "means": diff.means,
    }


def _page(diff: Diff, svg: Path, folder: Path) -> str:
    """Return the page. folder: where it will be, from which the runs are linked."""
    template = html_page.environment().get_template("diff/diff.html.j2")
    tables = [
        ("Whole run, totals" if op == WHOLE else f"Per {op}", terminal.rows(means))
        for op, means in diff.means.items()
    ]
    return template.render(
        diff=diff,
        sentences=words.sentences(diff),
        parts=terminal.PARTS,
        tables=tables,
        count=diff.pairs.height,
        pairs=commands.typical(diff),
        runs=[os.path.relpath(run.folder.resolve(), folder) for run in (diff.a, diff.b)],
        svg=Markup(style.inline(svg)),
    )
