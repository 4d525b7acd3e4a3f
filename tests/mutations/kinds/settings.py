"""Settings that are said to be others: in the cell, the plan, and what was read back of run and twin."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import numpy as np
from forged import Forged
from side import Absent
from times import set_rows

from kinds import kind, some

Change = Callable[[dict[str, Any]], None]


def _config(run: Forged, change: Change) -> None:
    """Change what the driver says, in the run and its twin."""
    for side in (run, run.twin):
        config = side.document("driver/config.json")
        change(config)
        side.put("driver/config.json", config)


def _planned(run: Forged, group: str, wanted: dict[str, Any]) -> None:
    """Let the plan expect other values of a group's settings."""
    if not (run.raw / "plan.json").exists():
        return
    plan = run.document("plan.json")
    for one in plan["expected"]:
        if one["group"] == group and one["name"] in wanted:
            one["requested"] = str(wanted[one["name"]])
    run.put("plan.json", plan)


def _claim(run: Forged, group: str, wanted: dict[str, Any]) -> None:
    """Say of axes that they have other values, in the cell and the plan. Raises Absent."""
    cell = run.document("../cell.json")
    if not wanted.keys() <= cell.keys():
        raise Absent("these axes, by their names of now")
    run.claim(wanted)
    _planned(run, group, wanted)


def _of_engine(run: Forged, wanted: dict[str, Any]) -> None:
    """Say of SQLite's settings that they were asked for, and were in effect. Raises Absent."""
    effective = run.document("driver/config.json")["effective"]
    if all(effective.get(name) == value for name, value in wanted.items()):
        raise Absent("other settings")
    _claim(run, "SQLite", wanted)

    def change(config: dict[str, Any]) -> None:
        for part in ("requested", "effective"):
            config[part].update(wanted)

    _config(run, change)


def _claim_extra(run: Forged, *, deletes: bool) -> None:
    effective = run.document("driver/config.json")["effective"]
    if effective["synchronous"] != "full" or (effective["journal_mode"] == "delete") != deletes:
        raise Absent("such a journal_mode, with FULL")
    _of_engine(run, {"synchronous": "extra"})


@kind
def claims_extra(run: Forged, draw: np.random.Generator) -> None:
    """a run of DELETE with FULL is said to be of EXTRA, in cell, plan, and what the driver read back"""
    _claim_extra(run, deletes=True)


@kind
def claims_extra_for_the_same(run: Forged, draw: np.random.Generator) -> None:
    """in WAL or TRUNCATE, FULL is said to be EXTRA, in cell, plan, and what the driver read back"""
    _claim_extra(run, deletes=False)


def _of_workload(run: Forged, wanted: dict[str, Any]) -> None:
    """Say of a workload's numbers that they are others; what follows from them is said, too."""
    had = run.document("driver/config.json")
    _claim(run, "workload", wanted)

    def change(config: dict[str, Any]) -> None:
        config["driver"].update(wanted)
        more = wanted.get("rows", had["rows_before"]) - had["rows_before"]
        config["rows_before"] += more
        config["rows_after"] += more
        if "value_size" in wanted:
            config["sql_bytes"] = config["sql_bytes"] * wanted["value_size"] // had["driver"]["value_size"]

    _config(run, change)


@kind
def claims_another_seed(run: Forged, draw: np.random.Generator) -> None:
    """the seed is said to be another, in cell, plan, and what the driver read back"""
    _of_workload(run, {"seed": int(draw.integers(2, 1000))})


@kind
def claims_more_rows(run: Forged, draw: np.random.Generator) -> None:
    """the table is said to have had more rows, in cell, plan, and what the driver read back"""
    _of_workload(
        run, {"rows": run.document("driver/config.json")["rows_before"] + int(draw.integers(1, 500))}
    )


@kind
def claims_another_value_size(run: Forged, draw: np.random.Generator) -> None:
    """values are said to be of another size, in cell, plan, and what the driver read back"""
    _of_workload(run, {"value_size": int(draw.choice([100, 1024, 4096]))})


@kind
def other_texts(run: Forged, draw: np.random.Generator) -> None:
    """what was rendered is another text of the same length, in the run and its twin"""
    for side in (run, run.twin):
        path = side.raw / "driver/rendered.gz"
        if not path.exists():
            raise Absent("rendered.gz")
        text = gzip.decompress(path.read_bytes())
        path.write_bytes(gzip.compress(text.replace(b"iii", b"jjj"), mtime=0))


@kind
def changes_of_many(run: Forged, draw: np.random.Generator) -> None:
    """transactions changed 1000 rows, in the run and its twin"""
    places = some(draw, np.arange(run.transactions.height))
    for side in (run, run.twin):
        side.transactions = set_rows(side.transactions, "changes", places, 1000)


@kind
def other_rows_after(run: Forged, draw: np.random.Generator) -> None:
    """more rows are said to be left, in the run and its twin"""
    more = int(draw.integers(1, 1000))
    _config(run, lambda config: config.update(rows_after=config["rows_after"] + more))


@kind
def another_size_after(run: Forged, draw: np.random.Generator) -> None:
    """the database is said to be larger after the run, in the run and its twin"""
    more = 4096 * int(draw.integers(1, 1000))
    _config(run, lambda config: config["file_sizes"].update(database=config["file_sizes"]["database"] + more))


@kind
def claims_another_release(run: Forged, draw: np.random.Generator) -> None:
    """the run is said to be of another SQLite, in cell, plan, and what the driver said"""
    wanted = {"sqlite": str(draw.choice(["3.44.2", "3.8.11.1", "3.46.0"]))}
    _claim(run, "SQLite", wanted)
    _planned(run, "SQLite", {"version": wanted["sqlite"]})
    _config(run, lambda config: config["sqlite"].update(version=wanted["sqlite"]))


@kind
def claims_all_defaults(run: Forged, draw: np.random.Generator) -> None:
    """all axes are said to be at their default: the id is another cell's"""
    cell = run.document("../cell.json")
    if "at_default" not in cell:
        raise Absent("axes that are said to be at their default")
    run.claim({"at_default": sorted(cell.keys() - {"at_default", "profiles"})})


@kind
def claims_another_kernel(run: Forged, draw: np.random.Generator) -> None:
    """the kernel's release is said to be another, in the run and its twin"""
    for side in (run, run.twin):
        side.replace("board/kernel.txt", r"^(\S+ \S+) [0-9.]+", r"\g<1> 6.12.1")


@kind
def claims_another_name(run: Forged, draw: np.random.Generator) -> None:
    """the device's profile is said to be another one's, with its own content"""
    run.claim({"device": str(draw.choice(["nvme-consumer", "ufs-2.0"]))})


@kind
def claims_another_checkpoint(run: Forged, draw: np.random.Generator) -> None:
    """wal_autocheckpoint is said to be another, in cell, plan, and what the driver read back"""
    if run.document("driver/config.json")["effective"]["journal_mode"] != "wal":
        raise Absent("a WAL")
    _of_engine(run, {"wal_autocheckpoint": int(draw.integers(1, 6))})


@kind
def claims_what_leaves_no_trace(run: Forged, draw: np.random.Generator) -> None:
    """cache_size, wal_autocheckpoint and journal_size_limit are said to be others that nothing reached"""
    wanted = {"cache_size": -8000, "wal_autocheckpoint": 100_000, "journal_size_limit": 1 << 30}
    _of_engine(run, wanted)
