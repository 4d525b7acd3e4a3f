"""Is what was rendered, and what it changed, what the workload makes of the cell's numbers?"""

from __future__ import annotations

import hashlib
from typing import Any

from analysis.adapters.rendered import Rendered
from analysis.checks.rendered import beside
from analysis.run import Run
from analysis.run_files import databases
from model import userfile, workloads
from model.statements import sqlfile
from model.workloads import Options, Table, Workload


def made(run: Run) -> list[str]:
    """Made again from seed, rows, n and value_size, each transaction has that text, and changed as many rows.

    Of a workload that is not made again (model/workloads) what was rendered is believed.
    """
    given, told = run.driver.rendered, run.driver.config["driver"]
    workload = workloads.find(str(told.get("workload")))
    if workload is None or given is None or not given.count or not told.keys() >= set(Options._fields):
        return []
    options = Options(*(told[name] for name in Options._fields))
    if wrong := [f"{k} {v!r}" for k, v in options._asdict().items() if type(v) is not int]:
        return [f"config.json: {wrong[0]} is no number"]
    changes = run.driver.transactions["changes"].to_list()
    phases = run.driver.workload_phases["phase"].to_list()
    due = options.n * len(phases)
    if options.value_size > given.bytes or len({due, len(changes), given.count}) > 1:
        has = f"rendered.gz has {given.count} transactions in {given.bytes} bytes"
        return [f"{has}; {len(phases)} phases of {_words(options)} have {due}"]
    if unknown := set(phases) - set(workload.PHASES):
        return [f"phases.csv: {told['workload']} has no phase {min(unknown)!r}"]
    try:
        return _compared(run, workload, options, phases, changes, given)
    except ValueError as error:
        return [f"config.json: {error}, with {_words(options)}: no run has these"]


def of_the_file(run: Run) -> list[str]:
    """Of a file what was rendered is its transactions; of a user's (FILE) the cell's `file` is its name."""
    profile, given = run.cell.profiles.get("file"), run.driver.rendered
    ran = "file" in run.driver.config["driver"]
    if ran != (profile is not None):
        return ["config.json: a user's file was run" + (", and the cell has none" if ran else " by nobody")]
    if profile is None:
        return []
    try:
        parts = userfile.parts(profile)
    except sqlfile.SqlFileError as error:
        return [f"the cell's file: {error}"]
    wanted = sqlfile.rendered(parts.transactions)
    found = _databases(run, parts)
    if given is not None and hashlib.sha256(wanted).hexdigest() != given.sha256:
        found.append("rendered.gz is not what the cell's file has")
    return found


def _databases(run: Run, parts: sqlfile.SqlFile) -> list[str]:
    """The driver had as many databases as the file, and of each as many transactions; what these changed is
    what transactions.csv has of them."""
    config, count = run.driver.config, parts.databases
    has = {userfile.databases(run.cell.profiles["file"]), databases.count(config)}
    if has != {count}:
        return [f"the cell's file has {count} databases, the cell and config.json have {sorted(has)}"]
    if count == 1:
        return []
    changes = run.driver.transactions["changes"].to_list()
    found, most = list[str](), len(changes)
    for one, (told, path) in enumerate(zip(config["databases"], databases.paths(config), strict=True)):
        if told["path"] != path:
            found.append(f"config.json: database {one + 1} is {told['path']}, by the first one's name {path}")
        own = [number for number, each in enumerate(parts.transactions[:most]) if each.database == one]
        due = {"transactions": len(own), "changes": sum(changes[number] for number in own)}
        found += [
            f"config.json: database {one + 1} has {name} {told[name]}, its transactions are {number}"
            for name, number in due.items()
            if told[name] != number
        ]
    return found


def _compared(
    run: Run,
    workload: Workload,
    options: Options,
    phases: list[str],
    changes: list[int | None],
    given: Rendered,
) -> list[str]:
    config, table = run.driver.config, Table(options.rows, run.driver.engine.ADDS_MISSING)
    digest, due = hashlib.sha256(), list[int]()
    for one in workloads.again(workload, options, phases):
        digest.update(run.driver.engine.rendered(one, workload.TEXTS))
        due.append(table.apply(one))
    found = []
    if digest.hexdigest() != given.sha256:
        found.append(f"rendered.gz is not what {config['driver']['workload']} makes of {_words(options)}")
    wrong = [
        place for place, (had, one) in enumerate(zip(changes, due, strict=True)) if had not in (None, one)
    ]
    if wrong:
        first = wrong[0]
        found.append(
            f"transactions.csv: {len(wrong)} changed another number of rows than they do, first transaction "
            f"{first}: {changes[first]}, not {due[first]}"
        )
    if None in changes and table.rows != config["rows_after"]:
        found.append(f"config.json: rows_after {config['rows_after']!r}; the transactions leave {table.rows}")
    return found


def _words(options: Options) -> str:
    return ", ".join(f"{name} {value}" for name, value in options._asdict().items())


def rows(run: Run) -> list[str]:
    """The rows before are those that were asked for, and those after what the transactions leave of them."""
    config, given, table = run.driver.config, run.driver.rendered, run.driver.transactions
    before, after, asked = config["rows_before"], config["rows_after"], config["driver"].get("rows", None)
    found = (
        [f"config.json: rows_before {before!r}, and rows {asked!r}"] if asked not in (None, before) else []
    )
    if given is None or given.count not in (0, table.height) or type(before) is not int:
        return found
    left: Any = before
    if given.count:
        changes = table["changes"].to_list()
        if None in changes:
            return found  # `made` knows them
        for number, count, _, one in beside(table["op"].to_list(), given):
            kinds = set(one.operations)
            if {"insert", "delete"} <= kinds:
                return found  # how many of each is not said
            changed = sum(changes[number : number + count])
            left += changed if "insert" in kinds else -changed if "delete" in kinds else 0
            left = 0 if "drop" in kinds else left
    if left != after:
        found.append(f"config.json: rows_after {after!r}; the transactions leave {left}")
    return found
