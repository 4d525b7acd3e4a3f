"""Check that no step, file, transaction, probe or event was lost, and that the kernel logged no error."""

import re
from typing import Any

import polars as pl

from analysis import observers
from analysis.adapters import device_logs, driver
from analysis.run import Run
from analysis.run_files.reading import read_text
from model import devices, filesystems

_KERNEL = re.compile(
    r"\bWARNING:|\bBUG\b|\bOops\b|Call [Tt]race|Unable to handle|Kernel panic|I/O error|"
    r"blocked for more than|\bstall(s|ed)? on\b|Out of memory|oom-kill|remount.* read-only|"
    r"segfault|general protection|Segmentation fault",
)
_LEVEL = re.compile(r"^<([0-9]{1,3})>")


def files_present(run: Run) -> list[str]:
    """Check that every raw file exists and could be read."""
    return [f"{name} is missing" for name in run.missing] + run.board.problems


def host_present(run: Run) -> list[str]:
    """Check that the host's part of the run exists and belongs to this cell."""
    if not run.host:
        return ["host.json is missing"]
    actual = run.host["cell_id"]
    return [] if actual == run.cell_id else [f"host.json is of cell {actual}, expected {run.cell_id}"]


def driver_finished(run: Run) -> list[str]:
    """Check that the driver finished."""
    status = run.driver.config["status"]
    return [] if status == "ok" else [f"the driver's status is {status!r}, not 'ok'"]


def command_ran(run: Run) -> list[str]:
    """Check that the runner finished, ran the requested command, and recorded its transactions.

    The command's own exit status is not checked.
    """
    config = run.driver.config
    reasons = [] if config["status"] == "ok" else [f"the runner's status is {config['status']!r}, not 'ok'"]
    if (line := config["command"]["line"]) != run.cell.command:
        reasons.append(f"the command was {line[:200]!r}, expected {run.cell.command[:200]!r}")
    phases = run.driver.phases["phase"].to_list()
    if phases != ["command", "drain"]:
        reasons.append(f"phases.csv has the phases {', '.join(phases) or 'none'}, expected command, drain")
        return reasons
    table, (begin, end, number) = run.driver.transactions, run.driver.phases.row(0)[1:4]
    if table.height != number:
        reasons.append(f"phases.csv has {number} transactions, transactions.csv {table.height}")
    outside = table.filter((pl.col("begin_ns") < begin) | (pl.col("end_ns") > end))
    if not outside.is_empty():
        reasons.append(f"transaction {outside['transaction'][0]} is not within the command")
    counted = config.get("transactions", {"ended": 0, "processes": 0})
    if counted["ended"] < table.height or (table.height and not counted["processes"]):
        reasons.append(
            f"transactions.csv has {table.height} transactions; config.json has {counted['ended']}, in "
            f"{counted['processes']} processes"
        )
    return reasons + _printed(run)


def _printed(run: Run) -> list[str]:
    """Check that the command's output was stored, up to the limit."""
    reasons, wrote = [], run.driver.config["command"]
    for name in ("stdout", "stderr"):
        due, path = wrote[f"{name}_bytes"], run.folder / "raw/driver" / name
        had = path.stat().st_size if path.is_file() else 0
        if due is not None and had != min(due, driver.KEPT_BYTES):
            reasons.append(
                f"raw/driver/{name} has {had} bytes; {due} were printed, "
                f"and up to {driver.KEPT_BYTES} are kept"
            )
    return reasons


def phases_cover(run: Run) -> list[str]:
    """Check that each workload phase has its transactions, and that they lie within it."""
    reasons, driver = [], run.driver
    names = driver.phases["phase"].to_list()
    reasons += [f"phase {name!r} is missing" for name in ("close", "drain") if name not in names]
    for row in driver.phases.iter_rows(named=True):
        of_phase = driver.transactions.filter(pl.col("phase") == row["phase"])
        if of_phase.height != row["transactions"]:
            reasons.append(
                f"phase {row['phase']!r} has {of_phase.height} transactions in transactions.csv "
                f"and {row['transactions']} in phases.csv"
            )
        outside = of_phase.filter((pl.col("begin_ns") < row["begin_ns"]) | (pl.col("end_ns") > row["end_ns"]))
        if not outside.is_empty():
            number = outside["transaction"][0]
            reasons.append(f"transaction {number} is not within its phase {row['phase']!r}")
    reasons += [f"phase {name!r} is missing" for name in driver.planned if name not in names]
    for row in driver.workload_phases.iter_rows(named=True):
        if row["transactions"] != (wanted := driver.planned.get(row["phase"])):
            reasons.append(f"phase {row['phase']!r} ran {row['transactions']} of {wanted} transactions")
    unknown = set(driver.transactions["phase"].unique()) - set(names)
    reasons += [f"transactions in the phase {name!r}, which never ran" for name in sorted(unknown)]
    if not (window := driver.window)[0] < window[1]:
        reasons.append("device_stat.csv: 'end' is not after 'begin'")
    return reasons


def steps_succeeded(run: Run) -> list[str]:
    """Check that the plan's steps ran in order and ended as planned; without a plan, with status 0."""
    steps = run.board.run.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return ["raw/run.json has no list of steps"]
    reasons = []
    if (whole := run.folder / "raw" / "run-cell.status").is_file():  # files_present reports a missing one
        status = read_text(whole).strip()
        reasons += [] if status == "0" else [f"run-cell ended with status {status!r}"]
    plan = _planned(run)
    if run.plan and plan is None:
        return [*reasons, "the plan has no such run"]
    planned = plan["steps"] if plan else None
    names = [step.get("name") for step in steps]
    if planned is not None and names != [step["name"] for step in planned]:
        wanted = ", ".join(step["name"] for step in planned)
        reasons.append(f"the steps were {', '.join(map(str, names)) or 'none'}; planned: {wanted}")
    ends = {step["name"]: step["ends"] for step in planned or []}
    for step in steps:
        name, status = step.get("name"), step.get("status")
        if ends.get(name) == "fails" and status in (0, "ok"):
            reasons.append(f"step {name!r} was expected to fail, but succeeded")
        elif ends.get(name) != "fails" and status not in (0, "ok"):
            reasons.append(f"step {name!r} ended with status {status!r}")
    return reasons


def _planned(run: Run) -> dict[str, Any] | None:
    """Return the plan's entry for this run; None if there is none."""
    planned: dict[str, Any] = run.plan["runs"] if run.plan else {}
    return planned.get(run.planned_as)


def probes_attached(run: Run) -> list[str]:
    """Check that the expected probes were attached from before the window until after it."""
    probes = run.board.run.get("probes")
    if not isinstance(probes, dict):
        return ["raw/run.json does not list the attached probes"]
    reasons = []
    attached, expected = probes.get("attached"), probes.get("expected")
    if not isinstance(expected, int) or attached != expected:
        reasons.append(f"{attached} probes were attached, expected {expected}")
    if not run.probes:
        left = observers.find_files(run.folder / "raw")
        return reasons + [f"the cell requests no probes, but the run has {name}" for name in left]
    begin, end = run.driver.window
    for event, time, wrong, edge in (
        ("attached", begin, "after", "begin"),
        ("detached", end, "before", "end"),
    ):
        rows = run.events.filter((pl.col("source") == "probe") & (pl.col("event") == event))
        if not rows.is_empty() and (rows["begin_ns"][0] > time) == (wrong == "after"):
            reasons.append(f"the probes were {event} {wrong} the window's {edge}")
    return reasons


def observers_watched(run: Run) -> list[str]:
    """Check that exactly the planned observers and probes ran, according to raw/run.json."""
    plan, state = _planned(run), run.board.run  # steps_succeeded reports a missing plan entry
    if plan is None:
        return []
    probes = state.get("probes")
    requested = probes.get("requested") if isinstance(probes, dict) else None
    watched = {"observers": state.get("observers"), "probes": requested}
    planned = {"observers": plan["observers"], "probes": ",".join(plan["probes"])}
    return [
        f"raw/run.json has the {what} {watched[what]!r}; planned: {planned[what]!r}"
        for what in planned
        if watched[what] != planned[what]
    ]


def observers_lost_nothing(run: Run) -> list[str]:
    """Check that no observer lost events."""
    return [loss for seen in run.seen.values() for loss in seen.losses]


def lost_events(run: Run) -> int:
    """Return the number of events that the observers and the device's log report as lost."""
    lost = sum(seen.lost for seen in run.seen.values())
    return lost + (run.log.lost if run.log and run.probes else 0)


def device_lost_nothing(run: Run) -> list[str]:
    """Check that a device's counters and log exist, and that the log has no more than was counted.

    A long run without probes has no ledger. Its log may lose commands and is then not compared.
    """
    device = devices.device_of(run.cell)
    if device is not None and device.counts and not run.board.device_time:
        return ["raw/board/device_time.txt is missing"]
    entries = run.board.device_time.get("log_entries")
    if run.log is None:
        return [] if entries is None else ["raw/device.bin is missing"]
    kept = run.log.entries.size
    reasons = [f"the device's log lost {run.log.lost} commands"] if run.log.lost and run.probes else []
    # commands between the two reads are counted, but not in the log
    if entries is None or not re.fullmatch("[0-9]{1,18}", entries) or int(entries) < kept:
        reasons.append(f"raw/device.bin has {kept} commands, raw/board/device_time.txt counts {entries}")
    reader = device_logs.find_reader(run.cell)
    return reasons + (reader.contradictions(run.board.device_time, run.log) if reader else [])


def kernel_quiet(run: Run) -> list[str]:
    """Check that the kernel logged no error."""
    errors = []
    for line in run.board.dmesg or []:
        level = _LEVEL.match(line)
        is_error = level and int(level.group(1)) & 7 <= 3
        if is_error or _KERNEL.search(line) or filesystems.errors().search(line):
            errors.append(f"kernel: {line.strip()[:200]}")
    return errors[:20] + ([f"kernel: {len(errors) - 20} more such lines"] if len(errors) > 20 else [])
