"""Open an analysed run (cell, summary, tables), even if rejected; refuse changed files; check cell.json."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.run_files import derived
from analysis.run_files.reading import SHOWN, read_json
from analysis.schemas import ledger as schema
from base import identity
from base.errors import FileError
from model import cell as cells
from model import engines
from model.cell import Cell
from model.requested import expected


@dataclass(frozen=True)
class Stored:
    """An analysed run: cell.json, summary.json, and its tables on demand."""

    folder: Path
    cell: Cell
    summary: dict[str, Any]

    def table(self, name: str, columns: tuple[str, ...] = ()) -> pl.DataFrame:
        """Return tables/`name`.parquet. Raises FileError if the table or one of `columns` is missing."""
        path = self.folder / "tables" / f"{name}.parquet"
        if not path.is_file():
            raise self._without(path)
        derived.check(self.folder, f"tables/{path.name}")
        try:
            table = pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise FileError(path, "", str(error).splitlines()[0], "a Parquet file") from None
        if missing := [column for column in columns if column not in table.columns]:
            again = f"those of docs/reference/formats.md; make analyse RUN={self.folder} makes them anew"
            raise FileError(path, "", f"no column {', '.join(missing)}", again)
        return table

    def _without(self, path: Path) -> FileError:
        """Return the error for a missing table.

        Analysing again does not create a ledger for a run without the necessary observers.
        """
        if path.stem not in schema.TABLES or self.summary.get("ledger", path) is not None:
            return FileError(path, "", "no such table", f"the tables of `make analyse RUN={self.folder}`")
        probes = expected.probes(self.cell)
        if not probes:
            why = "it has no observers (PROBES=none)"
        elif self.rejected:
            why = f"it was rejected, of PROBES={','.join(probes)}: {self.rejected[0]}"
        else:
            why = f"PROBES={','.join(probes)} are too few observers"
        remedy = "a run with all of them: `make experiment` with its settings, and without PROBES"
        return FileError(self.folder, "", f"no command of this run has a known cause: {why}", remedy)

    def window(self) -> tuple[int, int]:
        """Return begin and end of the window (ns), from manifest.json. Raises FileError."""
        derived.check(self.folder, "manifest.json")
        edges = read_json(self.folder / "manifest.json")["window"]
        return edges["begin_ns"], edges["end_ns"]

    def syncs(self) -> pl.DataFrame:
        """Return the syncs of the window; the table has earlier ones, too. Raises FileError."""
        table = self.table("syncs", ("begin_ns", "file"))
        return table.filter(pl.col("begin_ns").is_between(*self.window(), closed="left"))

    @property
    def rejected(self) -> list[str]:
        """The reasons for which the run was rejected; empty if it was accepted."""
        return [] if self.summary.get("status") == "ok" else list(self.summary.get("reasons", ["?"]))


def read(folder: Path, *, any_load: bool = False) -> Stored:
    """Open the analysed run in `folder`. Raises FileError, also if a file changed since.

    any_load: also accept a watched command, which has no transactions.
    """
    if not folder.is_dir():
        raise FileError(folder, "", "no such folder", "results/<cell name>/<run id>")
    name = identity.document({"load": identity.COMMAND})
    if not (folder / name).is_file():
        name = "cell.json"
    elif not any_load:
        raise FileError(folder, "", "a watched command's run, not a cell's", "a cell's run")
    if not (folder / name).is_file():
        raise FileError(folder, "", "not a run's folder: it has no cell.json", "results/<cell name>/<run id>")
    derived.check(folder, name, "host.json", "summary.json")
    path = folder / name
    return Stored(folder, parse_cell(path, read_json(path)), read_json(folder / "summary.json"))


def read_named(folder: Path) -> Stored:
    """Open an analysed run that is in its original place, below its cell's folder. Raises FileError."""
    run = read(folder)
    if wrong := identity.misnamed(folder, read_json(folder / "cell.json"), read_json(folder / "host.json")):
        raise FileError(folder, "", wrong, "results/<cell name>/<run id>, as it was stored")
    return run


# Axes without which no cell can be read.
_REQUIRED = ("board", "clock", "cpu_ns", "kernel", "probes")


def cell_document(path: Path) -> dict[str, Any]:
    """Return the content of cell.json or watch.json. Raises FileError if it is not a cell.

    Whether the cell is possible was checked when it was made.
    """
    stored = read_json(path)
    if not isinstance(named := stored.get("at_default"), list) or not all(isinstance(n, str) for n in named):
        raise FileError(path, "at_default", repr(named)[:SHOWN], "a list of axes, as of version 0.1.0")
    if missing := [name for name in _REQUIRED if name not in stored]:
        raise FileError(path, missing[0], "it is missing", "see docs/reference/formats.md")
    if identity.document(stored) != path.name:
        kind = identity.document(stored)
        found = repr(stored.get("load"))[:SHOWN]
        raise FileError(path, "load", found, f"a load of {path.name}, not of {kind}")
    cell = parse_cell(path, stored)
    if cell.engine not in engines.names():
        raise FileError(path, "engine", repr(cell.engine)[:SHOWN], ", ".join(engines.names()))
    if cell.cpu_ns < 1:
        raise FileError(path, "cpu_ns", repr(cell.cpu_ns)[:SHOWN], "ns of an instruction")
    return stored


def parse_cell(path: Path, stored: dict[str, Any]) -> Cell:
    """Return the cell of a stored document. Raises FileError for an axis of another type."""
    profiles = stored.get("profiles")
    if not isinstance(profiles, dict) or not all(isinstance(entry, dict) for entry in profiles.values()):
        raise FileError(path, "", "no object 'profiles' of objects", "see docs/reference/formats.md")
    for name, kind in cells.mistyped(stored):
        raise FileError(path, name, repr(stored[name])[:SHOWN], kind)
    return cells.from_document(stored)
