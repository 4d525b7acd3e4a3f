"""Did everything run, and did nothing get lost?"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from analysis import observers
from analysis.adapters import command, device_logs
from analysis.run import Run
from analysis.run_files.reading import read_text
from model import devices, filesystems

_KERNEL = re.compile(
    r"\bWARNING:|\bBUG\b|\bOops\b|Call [Tt]race|Unable to handle|Kernel panic|I/O error|"
    r"blocked for more than|\bstall(s|ed)? on\b|Out of memory|oom-kill|remount.* read-only|"
    r"segfault|general protection|Segmentation fault",
)
_LEVEL = re.compile(r"^<([0-9]{1,3})>")


def files_there(run: Run) -> list[str]:
    """Every raw file is there and could be read."""
    return [f"{name} is missing" for name in run.missing] + run.board.problems


def host_there(run: Run) -> list[str]:
    """The host's part of the run is there, and is of this cell."""
    if not run.host:
        return ["host.json is missing"]
    found = run.host["cell_id"]
    return [] if found == run.cell_id else [f"host.json is of another cell: {found}, not {run.cell_id}"]


def driver_finished(run: Run) -> list[str]:
    """The driver says that it ended well."""
    config = run.driver.config
    status, rows, had = config["status"], config["driver"].get("rows"), config["rows_before"]
    found = [] if status == "ok" else [f"the driver's status is {status!r}, not 'ok'"]
    return found + ([] if had == rows else [f"the database had {had} rows, and was to have {rows}"])


def command_ran(run: Run) -> list[str]:
    """What ran the command ended well, and ran the command that was asked for; how that ended is its own
    affair. The transactions that were noted are in it."""
    config = run.driver.config
    found = [] if config["status"] == "ok" else [f"the runner's status is {config['status']!r}, not 'ok'"]
    if (line := config["command"]["line"]) != run.cell.command:
        found.append(f"the command was {line[:200]!r}, and was to be {run.cell.command[:200]!r}")
    phases = run.driver.phases["phase"].to_list()
    if phases != ["command", "drain"]:
        found.append(f"phases.csv has the phases {', '.join(phases) or 'none'}, not command, drain")
        return found
    noted, (begin, end, number) = run.driver.transactions, run.driver.phases.row(0)[1:4]
    if noted.height != number:
        found.append(f"{number} transactions were noted by phases.csv, {noted.height} by transactions.csv")
    outside = noted.filter((pl.col("begin_ns") < begin) | (pl.col("end_ns") > end))
    if not outside.is_empty():
        found.append(f"transaction {outside['transaction'][0]} is not within the command")
    counted = config.get("transactions", {"ended": 0, "processes": 0})
    if counted["ended"] < noted.height or (noted.height and not counted["processes"]):
        found.append(
            f"transactions.csv has {noted.height}; by config.json {counted['ended']} ended, in "
            f"{counted['processes']} processes"
        )
    return found + _printed(run)


def _printed(run: Run) -> list[str]:
    """What a command printed is there, as far as it is kept."""
    found, wrote = [], run.driver.config["command"]
    for name in ("stdout", "stderr"):
        due, path = wrote[f"{name}_bytes"], run.folder / "raw/driver" / name
        had = path.stat().st_size if path.is_file() else 0
        if due is not None and had != min(due, command.KEPT):
            found.append(
                f"raw/driver/{name} has {had} bytes; {due} were printed, of which {command.KEPT} are kept"
            )
    return found


def phases_cover(run: Run) -> list[str]:
    """Each workload phase has its transactions, and the transactions lie in their phases."""
    found, driver = [], run.driver
    names = driver.phases["phase"].to_list()
    found += [f"phase {name!r} is missing" for name in ("close", "drain") if name not in names]
    for row in driver.phases.iter_rows(named=True):
        of_phase = driver.transactions.filter(pl.col("phase") == row["phase"])
        if of_phase.height != row["transactions"]:
            found.append(
                f"phase {row['phase']!r} has {of_phase.height} transactions in transactions.csv "
                f"and {row['transactions']} in phases.csv"
            )
        outside = of_phase.filter((pl.col("begin_ns") < row["begin_ns"]) | (pl.col("end_ns") > row["end_ns"]))
        if not outside.is_empty():
            number = outside["transaction"][0]
            found.append(f"transaction {number} is not within its phase {row['phase']!r}")
    found += [f"phase {name!r} is missing" for name in driver.planned if name not in names]
    for row in driver.workload_phases.iter_rows(named=True):
        if row["transactions"] != (wanted := driver.planned.get(row["phase"])):
            found.append(f"phase {row['phase']!r} ran {row['transactions']} of {wanted} transactions")
    unknown = set(driver.transactions["phase"].unique()) - set(names)
    found += [f"transactions in the phase {name!r}, which never ran" for name in sorted(unknown)]
    if not (window := driver.window)[0] < window[1]:
        found.append("device_stat.csv: 'end' is not after 'begin'")
    return found


def steps_succeeded(run: Run) -> list[str]:
    """Every step of the plan was run, in its order, and ended as planned; without a plan: with status 0."""
    steps = run.board.run.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return ["raw/run.json has no list of steps"]
    found = []
    if (whole := run.folder / "raw" / "run-cell.status").is_file():  # files_there says if it is not
        status = read_text(whole).strip()
        found += [] if status == "0" else [f"run-cell ended with status {status!r}"]
    plan = _planned(run)
    if run.plan and plan is None:
        return [*found, "the plan has no such run"]
    planned = plan["steps"] if plan else None
    names = [step.get("name") for step in steps]
    if planned is not None and names != [step["name"] for step in planned]:
        wanted = ", ".join(step["name"] for step in planned)
        found.append(f"the steps were {', '.join(map(str, names)) or 'none'}; planned: {wanted}")
    ends = {step["name"]: step["ends"] for step in planned or []}
    for step in steps:
        name, status = step.get("name"), step.get("status")
        if ends.get(name) == "fails" and status in (0, "ok"):
            found.append(f"step {name!r} was to fail and did not")
        elif ends.get(name) != "fails" and status not in (0, "ok"):
            found.append(f"step {name!r} ended with status {status!r}")
    return found


def _planned(run: Run) -> dict[str, Any] | None:
    """Return what the plan has of the run, or of what is checked as one; None: it has none."""
    planned: dict[str, Any] = run.plan["runs"] if run.plan else {}
    return planned.get(run.planned_as)


def no_disk_read(run: Run) -> list[str]:
    """In virtual time the board read nothing from its root: when a host's read ends is chance."""
    reads = run.board.run.get("root_reads")
    if run.board.run.get("clock") != "virtual":
        return []
    if not isinstance(reads, int):
        return ["raw/run.json does not say how often the board read its root disk"]
    return [f"the board read its root disk {reads} times in the run"] if reads else []


def probes_attached(run: Run) -> list[str]:
    """As many probes were attached as expected, from before the window until after it."""
    probes = run.board.run.get("probes")
    if not isinstance(probes, dict):
        return ["raw/run.json does not say which probes were attached"]
    found = []
    attached, expected = probes.get("attached"), probes.get("expected")
    if not isinstance(expected, int) or attached != expected:
        found.append(f"{attached} probes were attached, expected {expected}")
    if not run.probes:
        left = observers.left(run.folder / "raw")
        return found + [f"the cell asks for no probes, and the run has {name}" for name in left]
    begin, end = run.driver.window
    for event, time, wrong in (("attached", begin, "after"), ("detached", end, "before")):
        rows = run.events.filter((pl.col("source") == "probe") & (pl.col("event") == event))
        if not rows.is_empty() and (rows["begin_ns"][0] > time) == (wrong == "after"):
            found.append(f"the probes were {event} {wrong} the window's {_edge(event)}")
    return found


def _edge(event: str) -> str:
    return "begin" if event == "attached" else "end"


def observers_watched(run: Run) -> list[str]:
    """The observers and probes that the plan has watched, by raw/run.json, and nobody else."""
    plan, said = _planned(run), run.board.run  # steps_succeeded says if there is no such run
    if plan is None:
        return []
    probes = said.get("probes")
    requested = probes.get("requested") if isinstance(probes, dict) else None
    watched = {"observers": said.get("observers"), "probes": requested}
    planned = {"observers": plan["observers"], "probes": ",".join(plan["probes"])}
    return [
        f"raw/run.json has the {what} {watched[what]!r}; planned: {planned[what]!r}"
        for what in planned
        if watched[what] != planned[what]
    ]


def observers_lost_nothing(run: Run) -> list[str]:
    """Every observer has all that it saw."""
    return [loss for seen in run.seen.values() for loss in seen.losses]


def lost_events(run: Run) -> int:
    """Return how many events the observers and the device's log say they lost."""
    lost = sum(seen.lost for seen in run.seen.values())
    return lost + (run.log.lost if run.log and run.probes else 0)


def device_lost_nothing(run: Run) -> list[str]:
    """A device's counters are there, its log if it has one, and in that no more than it counted.

    What a long unwatched run loses is lost to no ledger: then the log is only not compared.
    """
    device = devices.of(run.cell)
    if device is not None and device.counts and not run.board.device_time:
        return ["raw/board/device_time.txt is missing"]
    said = run.board.device_time.get("log_entries")
    if run.log is None:
        return [] if said is None else ["raw/device.bin is missing"]
    kept = run.log.entries.size
    found = [f"the device's log lost {run.log.lost} commands"] if run.log.lost and run.probes else []
    # what came between the two reads is counted and not in the log
    if said is None or not re.fullmatch("[0-9]{1,18}", said) or int(said) < kept:
        found.append(f"raw/device.bin has {kept} commands, raw/board/device_time.txt says {said}")
    reader = device_logs.of(run.cell)
    return found + (reader.disagree(run.board.device_time, run.log) if reader else [])


def kernel_quiet(run: Run) -> list[str]:
    """The kernel logged no error."""
    found = []
    for line in run.board.dmesg or []:
        level = _LEVEL.match(line)
        is_error = level and int(level.group(1)) & 7 <= 3
        if is_error or _KERNEL.search(line) or filesystems.errors().search(line):
            found.append(f"kernel: {line.strip()[:200]}")
    return found[:20] + ([f"kernel: {len(found) - 20} more such lines"] if len(found) > 20 else [])
