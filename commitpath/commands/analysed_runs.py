"""Run a cell's samples and analyse each run, for `make experiment` and other commands that run cells."""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from base.progress import step
from commitpath.run import experiment
from model.cell import Cell


def load_analysis() -> None:
    """Load the analysis, which takes a second, while boards run; a second call does nothing."""
    importlib.import_module("analysis.__main__")


def analyse(folder: Path) -> int:
    """Check and analyse a stored run; return the exit code."""
    with step("check and analyse"):
        from analysis.__main__ import main

        return main([str(folder)])


def run_samples(samples: Sequence[Cell], repeat: int, limit: float) -> dict[Path, int]:
    """Run a cell's samples, each `repeat` times, and report; return folder → exit code of its analysis.

    limit: wall seconds of a run.
    """
    codes = dict[Path, int]()
    turns = [(cell, turn + 1) for turn in range(repeat) for cell in samples]
    for cell, turn in turns:
        if len(turns) > 1:
            print(f"run {len(codes) + 1} of {len(turns)}", file=sys.stderr)
        folder = experiment.run_once(cell, limit, turn=turn, meanwhile=load_analysis)
        codes[folder] = analyse(folder)
    if len(turns) > 1:
        from analysis.stats import repeats

        analysed = [folder for folder in codes if (folder / "summary.json").is_file()]
        for folder in codes:
            if folder not in analysed:
                print(f"not compared, as it could not be analysed: {folder}", file=sys.stderr)
        if analysed:
            print(repeats.table(repeats.compare(analysed)))
            print(f"report: {repeats.write(analysed)}")
    return codes
