"""Export an analysed run for other tools: Perfetto, blktrace, fio, Parquet and CSV."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from analysis.export import blktrace, iolog, trace_events
from analysis.run_files import derived, stored, written_tables
from analysis.run_files.stored import Stored
from base import scratch
from base.errors import FileError
from base.raw_files import check_unlinked
from base.text import printable


def _parquet(run: Stored, folder: Path) -> None:
    for path in _tables(run):
        derived.check(run.folder, f"tables/{path.name}")
        shutil.copyfile(path, folder / path.name)


def _csv(run: Stored, folder: Path) -> None:
    for path in _tables(run):
        table = run.table(path.stem)
        nested = [name for name, kind in table.schema.items() if kind.is_nested()]
        if nested:
            raise FileError(path, "", f"column {', '.join(nested)} is nested", "columns of plain values")
        written_tables.csv(table, folder / f"{path.stem}.csv")


def _tables(run: Stored) -> list[Path]:
    paths = sorted((run.folder / "tables").glob("*.parquet"))
    if not paths:
        raise FileError(run.folder / "tables", "", "no table", f"those of `make analyse RUN={run.folder}`")
    return paths


# {format: (its exporter into a folder, how to use the result)}
FORMATS: dict[str, tuple[Callable[[Stored, Path], None], str]] = {
    "perfetto": (trace_events.export, "open trace.json in ui.perfetto.dev or chrome://tracing"),
    "parquet": (_parquet, "one file a table"),
    "csv": (_csv, "one file a table"),
    "blktrace": (blktrace.export, blktrace.USE),
    "iolog": (
        iolog.export,
        "fio --name=replay --read_iolog=replay.iolog --replay_redirect=DEVICE --ioengine=psync --direct=1",
    ),
}


def export(folder: Path, formats: list[str]) -> list[Path]:
    """Write the run in `folder` to export/<format>/ and return these folders.

    Earlier exports are replaced only after all formats succeed.
    Raises FileError.
    """
    run = stored.read(folder)
    done = folder / "export"
    for form in formats:
        check_unlinked(folder, f"{done.name}/{form}")
    with scratch.folder(folder, ".export") as work:
        for form in formats:
            (fresh := work / form).mkdir()
            FORMATS[form][0](run, fresh)
        done.mkdir(exist_ok=True)
        for form in formats:
            shutil.rmtree(done / form, ignore_errors=True)
            (work / form).replace(done / form)
    return [done / form for form in formats]


def main(folder: str, form: str) -> None:
    """Export a run to a format, or to `all`. Raises FileError."""
    made = export(Path(folder), list(FORMATS) if form == "all" else [form])
    for reason in stored.read(Path(folder)).rejected:
        print(printable(f"commitpath: {folder} is a rejected run: {reason}"), file=sys.stderr)
    for path in made:
        print(f"{path}: {FORMATS[path.name][1]}")
