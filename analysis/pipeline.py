"""Analyse a run's folder: rebuild tables, figures, manifest, summary and report from raw/, and swap them in.

The order is read → ledger → content → crash (analysis/stages.py), then checks → summary.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from analysis import checks, figures, stages
from analysis import run as runs
from analysis.command import command_summary, command_tables
from analysis.command import text as command_report
from analysis.ledger.build import Ledger
from analysis.report import html_page, manifest, manual, summary
from analysis.run_files import derived, written_tables
from analysis.schemas import ledger as schema
from analysis.stats import report_tables
from base import identity, scratch

_LOCK = ".analysis.lock"


def analyse(folder: Path) -> dict[str, Any]:
    """Rebuild all outputs of the run in `folder` and return its summary.

    They are written to a temporary folder and swapped in at the end. Raises FileError; the old outputs are
    then unchanged.
    """
    with derived.marked(folder):
        if (folder / identity.document({"load": identity.COMMAND})).is_file():
            result = _analyse_command(folder)
        else:
            result = _analyse_cell(folder)
        manual.write(manual.above(folder, result["cell_name"]))
    return result


def _analyse_cell(folder: Path) -> dict[str, Any]:
    """Rebuild the outputs of a cell's run."""
    run, built, effective, result = recompute(folder)
    with _outputs(folder, effective, result) as fresh:
        write_tables(fresh / "tables", built, run.ledger)
        if run.content:
            written_tables.parquet(run.content.table, fresh / "tables/content.parquet")
            written_tables.csv(run.content.table, fresh / "tables/content.csv")
        if run.judged is not None:
            written_tables.parquet(run.judged, fresh / "tables/trials.parquet")
            written_tables.csv(run.judged, fresh / "tables/trials.csv")
        pictures = figures.render_all(built, fresh / "figures")
        page = html_page.render(run, built, effective, result, pictures, _docs(folder, result))
        (fresh / "report.html").write_text(page, encoding="utf-8", errors="replace")
    return result


def recompute(folder: Path) -> tuple[runs.Run, report_tables.Tables, dict[str, Any], dict[str, Any]]:
    """Return the run in `folder`, its tables, manifest and summary; write no files. Raises FileError."""
    run = stages.build(folder)
    reasons = checks.reasons(run)
    built, effective = report_tables.build(run), manifest.build(run)
    result = summary.build(run, built, reasons)
    if contradictions := manifest.contradictions(run.cell.document(), result, effective, run.host):
        result |= summary.verdict([*result["reasons"], *contradictions])
    return run, built, effective, result


def _analyse_command(folder: Path) -> dict[str, Any]:
    """Rebuild the outputs of a watched command, which has no tables of transactions."""
    run = stages.build(folder)
    reasons = checks.reasons(run)
    built, effective = command_tables.build(run), manifest.build(run)
    result = command_summary.build(run, built, reasons)
    with _outputs(folder, effective, result) as fresh:
        (fresh / "tables").mkdir()
        (fresh / "figures").mkdir()
        frames = {"transactions": run.driver.transactions, "phases": run.driver.phases}
        frames |= {name: getattr(run.ledger, name) for name in (*schema.TABLES, "reads") if run.ledger}
        for name, table in frames.items():
            written_tables.parquet(table, fresh / f"tables/{name}.parquet", "lz4")
        page = command_report.render_page(run, effective, result, _docs(folder, result))
        (fresh / "report.html").write_text(page, encoding="utf-8", errors="replace")
    return result


def _docs(folder: Path, result: dict[str, Any]) -> str:
    """Return the relative URL of the pages of docs/, from a run's folder."""
    return f"{os.path.relpath(manual.above(folder, result['cell_name']), folder.resolve())}/{manual.pages()}"


@contextlib.contextmanager
def _outputs(folder: Path, effective: dict[str, Any], result: dict[str, Any]) -> Iterator[Path]:
    """Provide a folder for the outputs, with manifest and summary; at the end it replaces the old outputs."""
    with scratch.folder(folder, ".analysis") as fresh:
        _write_json(fresh / "manifest.json", effective)
        _write_json(fresh / "summary.json", result)
        yield fresh
        derived.write(fresh, folder, fresh)
        put(fresh, folder)


def write_tables(folder: Path, built: report_tables.Tables, ledger: Ledger | None) -> None:
    """Write each table as Parquet, and as CSV except the long lists of events."""
    folder.mkdir()
    for name in report_tables.names():
        table: pl.DataFrame = getattr(built, name)
        written_tables.parquet(table, folder / f"{name}.parquet")
        if name not in ("events", "commands"):
            written_tables.csv(table, folder / f"{name}.csv")
    for name in (*schema.TABLES, "reads") if ledger else ():
        written_tables.parquet(getattr(ledger, name), folder / f"{name}.parquet", "lz4")


def _write_json(path: Path, value: dict[str, Any]) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=True, sort_keys=False)
    path.write_text(text + "\n", encoding="utf-8")


def put(fresh: Path, folder: Path) -> None:
    """Move all outputs into place, under a lock.

    derived.json is removed first and written last. After an interruption its absence marks a run that must be
    analysed again.
    """
    with _alone(folder):
        derived.remove(folder)
        for output in derived.OUTPUTS:
            _swap(fresh / output, folder / output, fresh / f"old-{output}")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the run's lock; the kernel releases it when the process ends."""
    path = folder / _LOCK
    while True:
        with scratch.lock_file(path) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not scratch.is_at(lock, path):  # removed by the previous holder
                continue
            try:
                yield
            finally:
                path.unlink()
            return


def _swap(new: Path, place: Path, old: Path) -> None:
    """Move `new` to `place`. A folder cannot be replaced atomically: an existing one is moved to `old`."""
    if os.path.lexists(place) and (new.is_dir() or place.is_dir()):
        place.replace(old)
    new.replace(place)
