"""`make artifact GRID=… FILE=…`: write a .tar.gz of a grid's runs, figures, set-up text and README."""

import shutil
import tarfile
from collections.abc import Mapping, Sequence

from base import scratch
from base.errors import BadInputError
from commitpath.cells.data_files import load as load_data
from commitpath.charts import command as figures
from commitpath.database import exchange, select, store, sync
from commitpath.database.select import Run
from commitpath.host import places
from commitpath.reporting import setup
from commitpath.sweep import grid

README = """\
Runs of the grid {grid}: {count} of {cells} cells, made by commitpath at {commits}.

runs.tar.gz     the runs: settings, raw records, tables, reports, and results.sqlite
grid.yml        the cells that were asked for
setup.txt       the experimental setup, read back from the board, as text and LaTeX
figures/        each figure of the grid that is a file of experiments/figures, with its numbers
{missing}
To look at them, in a clone of commitpath at {commit}:

    make import FILE=runs.tar.gz
    make results WHERE='grid={grid}'

To repeat them:

    make sweep GRID=grid.yml

In virtual time counts and bytes are then equal, and times to 1e-6, on any host; `other times` at the end of
a sweep names a run that differs. Runs were made with {qemu}.
"""


def artifact(options: Mapping[str, str]) -> None:
    """Write the archive; print the number of its runs and its size."""
    if not options.get("GRID") or not options.get("FILE"):
        raise BadInputError(
            "make artifact takes GRID=<a grid that was swept> FILE=<new.tar.gz> and LAB=<label>"
        )
    path, _ = grid.load(options["GRID"])
    label = exchange.check_label(options["LAB"]) if "LAB" in options else None
    target = places.new_file("FILE", options["FILE"])
    sync.up_to_date()
    with store.opened(write=False) as connection:
        names = grid.run_names(options["GRID"])
        runs = [run for run in select.load(connection, "status=ok") if run.grids & names]
        this_lab = store.label(connection)
    here = [run for run in runs if run.path is not None and run.facts["lab"] == this_lab]
    if not here:
        others = f"; {len(runs)} runs of it have no files here, or are another lab's" if runs else ""
        raise BadInputError(
            f"GRID={options['GRID']}: no ok run of it is here{others}; make sweep GRID={options['GRID']}"
        )
    with scratch.folder(target.resolve().parent, ".artifact") as work:
        place = work / target.name.partition(".")[0]
        (place / "figures").mkdir(parents=True)
        keys = {(run.facts["cell"], run.facts["run"]) for run in here}
        exchange.export(place / "runs.tar.gz", label, files=True, only=keys)
        shutil.copy(path, place / "grid.yml")
        (place / "setup.txt").write_text("\n".join(setup.text(here, runs, path.stem)) + "\n")
        (place / "README.txt").write_text(readme(path.stem, here, len(grid.expand(options["GRID"]).runs)))
        for name in figures.names():
            if load_data(figures.FIGURES / f"{name}.yml", "sweep_figure")["grid"] == path.stem:
                # of no shipped runs; the export may have changed the label
                options_of = {"NAME": name, "FIGURE": str(place / f"figures/{name}.pdf")}
                figures.figure({**options_of, "LAB": label or this_lab})
        part = work / "artifact"
        with tarfile.open(part, "w:gz", compresslevel=6) as made:
            made.add(place, place.name)
        part.replace(target)
    print(f"{target}: {len(here)} runs, {target.stat().st_size / 2**20:.1f} MiB")


def readme(name: str, runs: Sequence[Run], asked: int) -> str:
    """Return README.txt. asked: runs of the grid."""

    def of_host(key: str) -> list[str]:
        return list(dict.fromkeys(str(run.document("host").get(key)) for run in runs))

    commits = of_host("commitpath_commit")
    lacking = asked - len(runs)
    return README.format(
        grid=name,
        count=f"{len(runs)} runs",
        cells=len({run.cell_id for run in runs}),
        commits=", ".join(commits),
        commit=commits[-1],
        missing=f"\n{lacking} runs of the grid are missing: they were not made, or rejected.\n"
        if lacking > 0
        else "",
        qemu=", ".join(of_host("qemu")),
    )
