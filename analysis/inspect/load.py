"""Load the tables of an analysed run for a timeline or tree, with references as row numbers."""

from pathlib import Path

import numpy as np
import polars as pl

from analysis import observers
from analysis.ledger import sums, wal_checkpoints
from analysis.run_files import stored
from analysis.schemas import ledger as schema
from base.errors import FileError
from model import filesystems
from model.filesystems import words

NEEDED: dict[str, schema.Schema] = {
    "transactions": {
        "transaction": pl.Int64,
        "phase": pl.String,
        "op": pl.String,
        "begin_ns": pl.Int64,
        "end_ns": pl.Int64,
    },
    "phases": {"phase": pl.String, "begin_ns": pl.Int64, "end_ns": pl.Int64, "transactions": pl.Int64},
    **schema.TABLES,
}


class Loaded:
    """The tables of one run by name; references between them are row numbers."""

    def __init__(self, folder: Path, *, any_load: bool = False) -> None:
        """Read them. Raises FileError if one is missing or does not fit analysis/schemas/ledger.py."""
        self.run = stored.read(folder, any_load=any_load)
        self.tables = {name: self._read(name) for name in NEEDED}
        self.origin = self._origin()
        # a script's lines about other times are left out
        ends = [
            self[name][column].max() for name, column in (("phases", "end_ns"), ("ledger", "complete_ns"))
        ]
        last = max((int(end) for end in ends if isinstance(end, int)), default=0)
        inside = pl.col("begin_ns").is_between(self.origin, last)
        self.tables["script"] = observers.script_lines(folder / "raw").filter(inside)
        # watched since the filesystem was mounted; a file open at the window's begin has its `open`
        for name in ("vfs", "syncs", "commits", "checkpoints"):
            self.tables[name] = self[name].filter(pl.col("end_ns") >= self.origin)
        for name, key in (("transactions", "transaction"), ("ledger", "command"), ("costs", "transaction")):
            self._numbered(name, key)
        self._sort("vfs", "call", (("ledger", "vfs_call"), ("pieces", "vfs_call"), ("syncs", "vfs_call")))
        self._sort("syncs", "sync", (("ledger", "sync"),))
        self._sort("commits", "commit", (("ledger", "commit"),))
        self._sort("checkpoints", "checkpoint", (("ledger", "checkpoint"),))
        self.tables["pieces"] = self["pieces"].sort("command", maintain_order=True)
        tables = (self[name] for name in ("vfs", "transactions", "phases"))
        self.tables["wal"] = wal_checkpoints.find(self.run.cell, *tables)
        self.tables["vfs"] = self["vfs"].with_columns(wal=wal_checkpoints.rows_of(self["wal"], self["vfs"]))

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    def written(self) -> dict[str, float]:
        """Return the bytes written of each label."""
        sizes = self["pieces"].group_by("label").agg(pl.col("bytes").sum())
        return dict(zip(sizes["label"].cast(pl.String).to_list(), sizes["bytes"].to_list(), strict=True))

    def for_none(self) -> dict[str, float]:
        """Return the bytes written for no transaction, by reason."""
        each = sums.for_nobody(self["ledger"], self["shares"], self["pieces"])
        return dict(each.group_by(pl.col("no_transaction").cast(pl.String)).agg(pl.col("bytes").sum()).rows())

    def reason(self, bits: int) -> str:
        """Return why a checkpoint was made, in the words of the run's filesystem."""
        return words(bits, filesystems.by_name(str(self.run.cell.profiles["fs"]["type"])).checkpoint_reasons)

    def _origin(self) -> int:
        """Return the time that the views count from: the first thing done in the window, in ns."""
        begins = [self["transactions"]["begin_ns"], self["ledger"]["queue_ns"]]
        first = (times.drop_nulls().min() for times in begins)
        return min((int(time) for time in first if isinstance(time, int)), default=0)

    def _wrong(self, name: str, place: str, wrong: str, expected: str) -> FileError:
        return FileError(self.run.folder / "tables" / f"{name}.parquet", place, wrong, expected)

    def _read(self, name: str) -> pl.DataFrame:
        columns = NEEDED[name]
        table = self.run.table(name, tuple(columns)).select(list(columns))
        for column, dtype in columns.items():
            try:
                table = table.with_columns(pl.col(column).cast(dtype))
            except pl.exceptions.PolarsError:
                raise self._wrong(name, f"column {column}", f"is {table[column].dtype}", str(dtype)) from None
        return table

    def _numbered(self, name: str, key: str) -> None:
        """Refuse a table with rows that are not numbered from 0."""
        if not np.array_equal(self[name][key].to_numpy(), np.arange(self[name].height)):
            raise self._wrong(name, f"column {key}", "rows are not numbered from 0", "0, 1, 2, ...")

    def _sort(self, name: str, key: str, users: tuple[tuple[str, str], ...]) -> None:
        """Sort a table by begin_ns, and make those who refer to its `key` refer to its rows."""
        table = self[name].sort("begin_ns", maintain_order=True)
        self.tables[name] = table
        rows = table.select(key).with_row_index("row")
        for user, column in users:
            joined = self[user].join(rows, left_on=column, right_on=key, how="left", maintain_order="left")
            unknown = joined.filter(pl.col(column).is_not_null() & pl.col("row").is_null())
            if unknown.height:
                value = unknown[column][0]
                raise self._wrong(user, f"column {column}", f"{value} is not in {name}", f"a {key} of {name}")
            self.tables[user] = joined.with_columns(pl.col("row").cast(pl.Int64).alias(column)).drop("row")
