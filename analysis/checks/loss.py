"""Did everything run, and did nothing get lost?"""

from __future__ import annotations

import re

import polars as pl

from analysis.files import read_text
from analysis.run import Run

_KERNEL = re.compile(
    r"\bWARNING:|\bBUG\b|\bOops\b|Call [Tt]race|Unable to handle|Kernel panic|I/O error|"
    r"blocked for more than|\bstall(s|ed)? on\b|Out of memory|oom-kill|Aborting journal|"
    r"JBD2: .*(error|corrupt)|EXT4-fs (error|warning)|EXT4-fs \(.*\): .*(error|corrupt|abort)|"
    r"F2FS-fs \(.*\): .*(error|corrupt|inconsisten|invalid|bug|stop)|remount.* read-only|"
    r"segfault|general protection|Segmentation fault",
)
_LEVEL = re.compile(r"^<([0-9]+)>")


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
    status = run.driver.config["status"]
    return [] if status == "ok" else [f"the driver's status is {status!r}, not 'ok'"]


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
    """Every step of run-cell ended with status 0."""
    steps = run.board.run.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return ["raw/run.json has no list of steps"]
    found = []
    if (whole := run.folder / "raw" / "run-cell.status").is_file():  # files_there says if it is not
        status = read_text(whole).strip()
        found += [] if status == "0" else [f"run-cell ended with status {status!r}"]
    return found + [
        f"step {step.get('name')!r} ended with status {step.get('status')!r}"
        for step in steps
        if step.get("status") not in (0, "ok")
    ]


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
        there = [path.name for path in (run.folder / "raw").glob("probes.bin")]
        there += [path.name for path in (run.folder / "raw/blktrace").glob("*")]
        return found + [f"the cell asks for no probes, and the run has {name}" for name in sorted(there)]
    begin, end = run.driver.window
    for event, time, wrong in (("attached", begin, "after"), ("detached", end, "before")):
        rows = run.events.filter((pl.col("source") == "probe") & (pl.col("event") == event))
        if not rows.is_empty() and (rows["begin_ns"][0] > time) == (wrong == "after"):
            found.append(f"the probes were {event} {wrong} the window's {_edge(event)}")
    return found


def _edge(event: str) -> str:
    return "begin" if event == "attached" else "end"


def probes_lost_nothing(run: Run) -> list[str]:
    """The probes' ring and maps had room for every event."""
    lost = run.probe_losses
    if lost is None:
        return []  # files_there says so
    found = [f"the probes lost {lost.records} events: their ring was full"] if lost.records else []
    return found + ([f"the probes lost {lost.updates} events: a map was full"] if lost.updates else [])


def lost_events(run: Run) -> int:
    """Return how many events the probes, blktrace and the device's log say they lost."""
    lost = run.probe_losses.records + run.probe_losses.updates if run.probe_losses else 0
    lost += run.blktrace_counts[1] if run.blktrace_counts else 0
    return lost + (run.log.lost if run.log and run.probes else 0)


def blktrace_lost_nothing(run: Run) -> list[str]:
    """blktrace dropped nothing, and its files are as long as it says."""
    if run.blktrace_counts is None:
        return []  # files_there says so
    events, dropped = run.blktrace_counts
    found = [f"blktrace dropped {dropped} events"] if dropped else []
    if events != run.blktrace_size_events:
        found.append(
            f"raw/blktrace holds {run.blktrace_size_events} records of 48 bytes, "
            f"blktrace wrote {events}: a file is cut short or missing"
        )
    return found


def device_lost_nothing(run: Run) -> list[str]:
    """A flash device's counters are there, its log if it has one, and in that no more than it counted.

    What a long unwatched run loses is lost to no ledger: then the log is only not compared.
    """
    if run.cell["profiles"].get("device", {}).get("driver") == "flash" and not run.board.device_time:
        return ["raw/board/device_time.txt is missing"]
    said = run.board.device_time.get("log_entries")
    if run.log is None:
        return [] if said is None else ["raw/device.bin is missing"]
    kept = run.log.entries.size
    found = [f"the device's log lost {run.log.lost} commands"] if run.log.lost and run.probes else []
    # what came between the two reads is counted and not in the log
    if said is None or not re.fullmatch("[0-9]{1,18}", said) or int(said) < kept:
        found.append(f"raw/device.bin has {kept} commands, raw/board/device_time.txt says {said}")
    return found


def kernel_quiet(run: Run) -> list[str]:
    """The kernel logged no error."""
    found = []
    for line in run.board.dmesg or []:
        level = _LEVEL.match(line)
        is_error = level and int(level.group(1)) & 7 <= 3
        if is_error or _KERNEL.search(line):
            found.append(f"kernel: {line.strip()[:200]}")
    return found[:20] + ([f"kernel: {len(found) - 20} more such lines"] if len(found) > 20 else [])
