"""Settings that are said to be others: in the cell, the plan, and what was read back of run and twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from forged import Forged
from side import Absent

from kinds import kind

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
    """DELETE with FULL is said to be EXTRA, in cell, plan, and what the driver read back"""
    _claim_extra(run, deletes=True)


@kind
def claims_extra_for_the_same(run: Forged, draw: np.random.Generator) -> None:
    """WAL or TRUNCATE with FULL is said to be EXTRA, in cell, plan, and what the driver read back"""
    _claim_extra(run, deletes=False)
