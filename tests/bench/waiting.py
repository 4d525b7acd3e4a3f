"""How long a person waits for each thing, with the time asked for: `make bench-waiting`.

Prints a Markdown table. The two rows that need a new machine or many boards name the command that
measures them.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench_analysis
from bench import ROOT, experiment

sys.path.insert(0, str(ROOT))

from analysis import pipeline
from analysis.run_files import derived
from base import identity
from base.paths import CACHE

SMALL = ("ROWS=1000", "N=100")
RUNS = 18
EVENTS = bench_analysis.SIZES[0]
RECORDED = ROOT / "tests/analysis/sample-f2fs-wal.tar.xz"
# Steps that a cell with another page size adds to a second call.
PREPARING = ("prepare", "attach")
FIGURES = "fig1 fig2 fig3a fig3b fig3c fig3d fig4 table1"
# figure, seconds asked for, command
ELSEWHERE = (
    ("fresh clone to report", 180, "tests/fresh-machine trixie root 'make experiment FS=f2fs MODE=wal'"),
    ("Figs 1 to 4 and Table 1 of apsys17", 480, f"make reproduce PAPER=apsys17 FIGURE='{FIGURES}'"),
)


def row(figure: str, measured: str, asked: str) -> None:
    print(f"| {figure} | {measured} | {asked} |", flush=True)


def seconds(command: list[str], folder: Path, **variables: str) -> float:
    """Return the wall seconds of a command; exit if it fails."""
    # the flags of the make that runs this bench are not the measured one's
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    begin = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=own | variables
    )
    if done.returncode:
        sys.exit(f"bench-waiting: {' '.join(command)} failed:\n{done.stderr}")
    return time.monotonic() - begin


def of_help(work: Path) -> tuple[float, float]:
    """Return the seconds of `make` in a new checkout of HEAD, and of the slower of two later calls."""
    clone = work / "clone"
    seconds(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], work)
    first, *later = (seconds(command, clone) for command in (["make"], ["make"], ["make", "help"]))
    return first, max(later)


def of_other_board(work: Path) -> list[tuple[str, float]]:
    """Return the preparing steps of a cell whose page size no prepared board has, with their seconds.

    It has a cache of its own: links to all of this one's but the prepared boards.
    """
    made = work / "cache"
    (made / "snapshots").mkdir(parents=True)
    for path in (*CACHE.iterdir(), *CACHE.glob("snapshots/provisioned-*")):
        if path.name != "snapshots" and path.suffix != ".lock":
            (made / path.relative_to(CACHE)).symlink_to(path)
    _, steps = experiment(made, "PAGE_SIZE=8192", *SMALL)
    return [(what, took) for what, took in steps if what.startswith(PREPARING)]


def of_import(work: Path) -> float:
    """Return the seconds of an import of RUNS analysed runs, copies of one with ids of their own."""
    shutil.unpack_archive(RECORDED, work)
    sample = work / "run"
    pipeline.analyse(sample)
    cell, host = (json.loads((sample / f"{name}.json").read_text()) for name in ("cell", "host"))
    for number in range(RUNS):
        run = f"{host['run_id']}{number:02}"
        folder = work / "there" / identity.cell_name(cell) / run
        shutil.copytree(sample, folder)
        for path in folder.glob("*.json"):
            path.write_text(path.read_text().replace(host["run_id"], run))
        derived.write(folder)
    file, there, here = work / "runs.tar.gz", work / "there", work / "here"
    command = ["make", "-s", "export", f"FILE={file}", "LAB=bench", "FILES=yes"]
    seconds(command, ROOT, COMMITPATH_RESULTS=str(there))
    took = seconds(["make", "-s", "import", f"FILE={file}"], ROOT, COMMITPATH_RESULTS=str(here))
    if (count := len([*here.glob("imported/bench/*/*/summary.json")])) != RUNS:
        sys.exit(f"bench-waiting: {count} of {RUNS} runs were imported")
    return took


def of_analysis(work: Path) -> float:
    """Return how many times as many events a second the analysis reads as `blkparse -f`."""
    bench_analysis.longer(bench_analysis.recorded(work / "sample"), work / "long", EVENTS)
    found = bench_analysis.measure(work / "long")
    return found["blkparse -f"].seconds / found["ours"].seconds


def main() -> None:
    print("| figure | measured | asked |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-waiting-", dir=ROOT) as name:
        work = Path(name)
        first, later = of_help(work)
        row("`make` and `make help`, first / later", f"{first:.2f} / {later:.2f} s", "0.2 s")
        for what, variables, asked in ((f"`{' '.join(SMALL)}`", SMALL, 3), ("default cell", (), 10)):
            experiment(None, *variables)
            wall, _ = experiment(None, *variables)
            row(f"second call, {what}", f"{wall:.1f} s", f"{asked} s")
        steps = of_other_board(work)
        parts = "; ".join(f"{what} {took:.1f}" for what, took in steps)
        total = sum(took for _, took in steps)
        row("a board for another page size", f"{total:.1f} s ({parts})", "40 s")
        row(f"import of {RUNS} runs", f"{of_import(work):.1f} s", "30 s")
        row(f"analysis over `blkparse -f`, {EVENTS:,} events", f"{of_analysis(work):.1f}", "10")
    for figure, asked, command in ELSEWHERE:
        row(figure, f"`{command}`", f"{asked} s")


if __name__ == "__main__":
    main()
