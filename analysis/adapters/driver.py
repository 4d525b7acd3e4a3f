"""Read raw/driver/ (settings, transactions, file calls, …); derive window, commits, events, command failure.

A watched command's (`make watch`) has the command's output, too.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.adapters import drivertables, rendered
from analysis.adapters.drivertables import STAT_FIELDS
from analysis.adapters.rendered import Rendered
from analysis.run_files import databases
from analysis.run_files.reading import read_document
from analysis.schemas import events
from base.errors import FileError
from model import engines
from model.engines import Engine

_NOT_WORKLOAD = ("warm", "close", "drain")


@dataclass(frozen=True)
class Driver:
    """The files of raw/driver/, checked for shape and order of time, not for truth."""

    config: dict[str, Any]  # with sql_sha256 and rendered_bytes, of rendered.gz
    transactions: pl.DataFrame  # drivertables.TRANSACTIONS
    phases: pl.DataFrame  # drivertables.PHASES, and USAGE unless a command ran
    device_stat: pl.DataFrame  # drivertables.STAT
    vfs: pl.DataFrame | None  # drivertables.CALLS; None: not recorded
    rendered: Rendered | None  # the engine's input; None: a command ran
    persistent: pl.DataFrame | None = None  # drivertables.PERSISTENT; None: the engine had no such memory
    moved: pl.DataFrame | None = None  # drivertables.MOVED; None: the engine moves none, or reports none
    both_writers: pl.DataFrame | None = None  # drivertables.COMMITS, in order; None: one connection wrote

    @property
    def engine(self) -> Engine:
        """The engine that ran; unknown for a command."""
        if "command" in self.config:
            return Engine()
        return engines.by_name(engines.name_in(self.config))

    @property
    def commits(self) -> pl.DataFrame:
        """The transactions of all writers, in the order of their commits.

        Of two writers, begin_ns is when it had the lock, end_ns when it or a later commit was acknowledged,
        as the later one includes it. A transaction of the second one inserts a row.
        """
        if self.both_writers is None:
            return self.transactions
        own = self.transactions.select(pl.lit(1, pl.Int64).alias("writer"), "transaction", "op", "changes")
        return self.both_writers.join(own, ["writer", "transaction"], "left", maintain_order="left").select(
            pl.col("op").fill_null("insert of the second writer"),
            pl.col("changes").fill_null(1),
            begin_ns="locked_ns",
            end_ns=pl.col("end_ns").cum_min(reverse=True),
        )

    @property
    def writers(self) -> list[int]:
        """The writer of each commit; empty with one."""
        return [] if self.both_writers is None else self.both_writers["writer"].to_list()

    @property
    def workload_phases(self) -> pl.DataFrame:
        """The phases that run transactions, in order."""
        return self.phases.filter(~pl.col("phase").is_in(_NOT_WORKLOAD))

    @property
    def planned(self) -> dict[str, Any]:
        """Transactions of each workload phase; n in each by default."""
        by_default = dict.fromkeys(self.workload_phases["phase"], self.config.get("driver", {}).get("n"))
        return dict(self.config.get("transactions", by_default))

    @property
    def window(self) -> tuple[int, int]:
        """(begin_ns, end_ns) between the two idle readings of the device's counters."""
        times = dict(self.device_stat.select("label", "time_ns").iter_rows())
        return times["begin"], times["end"]

    @property
    def timed(self) -> tuple[int, int] | None:
        """(begin_ns, end_ns) of the timed region; None if the `close` phase is missing."""
        close = self.phases.filter(pl.col("phase") == "close")
        if close.is_empty():
            return None
        first = self.workload_phases if not self.workload_phases.is_empty() else close
        return first["begin_ns"][0], close["end_ns"][0]

    @property
    def timed_seconds(self) -> float | None:
        """The seconds of the timed region; None if it did not end."""
        return (self.timed[1] - self.timed[0]) / 1e9 if self.timed else None

    def stat_difference(self) -> dict[str, int]:
        """Return the growth within the window of each counter of /sys/block/<dev>/stat that was read."""
        rows = {row["label"]: row for row in self.device_stat.iter_rows(named=True)}
        begin, end = rows["begin"], rows["end"]
        return {name: end[name] - begin[name] for name in STAT_FIELDS if begin[name] is not None}


def read(folder: Path) -> Driver:
    """Read raw/driver/. Raises FileError."""
    config = _read_config(folder / "config.json")
    engine = engines.by_name(engines.name_in(config))
    path = folder / "vfs.csv"
    calls = drivertables.calls(path, databases.count(config)) if path.is_file() else None
    given = rendered.read(
        folder / "rendered.gz", config["sql_bytes"], engine, config["driver"].get("workload") == "sql"
    )
    config |= {"sql_sha256": given.sha256, "rendered_bytes": given.bytes}
    ran = Driver(
        config,
        drivertables.transactions(folder / "transactions.csv"),
        drivertables.phases(folder / "phases.csv", drivertables.PHASES | drivertables.USAGE),
        drivertables.device_stat(folder / "device_stat.csv"),
        calls,
        given,
        moved=drivertables.moved(path, calls.height)
        if calls is not None and (path := folder / "moved.csv").is_file()
        else None,
        both_writers=drivertables.commits(path) if (path := folder / "commits.csv").is_file() else None,
        persistent=drivertables.persistent(path) if (path := folder / "persistent.csv").is_file() else None,
    )
    if ran.writers and ran.writers.count(1) != ran.transactions.height:
        raise FileError(
            folder / "commits.csv",
            "writer",
            f"{ran.writers.count(1)} transactions of writer 1",
            f"the {ran.transactions.height} of transactions.csv",
        )
    if planned := list(ran.planned):  # a check reports missing phases
        drivertables.check_op(folder / "transactions.csv", ran.transactions, planned)
    return ran


def _read_config(path: Path) -> dict[str, Any]:
    """Read config.json. Raises FileError."""
    config = read_document(path, "config")
    engine = engines.name_in(config)
    if engine not in engines.names():
        raise FileError(path, "", f"engine is {engine!r}", ", ".join(engines.names()))
    for key in (engine, engines.by_name(engine).PROPERTIES):
        if key not in config:
            raise FileError(path, "", f"no object {key!r}", "see docs/reference/formats.md")
    return config


def to_events(driver: Driver) -> pl.DataFrame:
    """Return transactions and phases as events."""
    frames = []
    for event, rows, others in (
        ("transaction", driver.transactions.with_columns(result="changes"), ("transaction", "op", "result")),
        ("phase", driver.phases, ()),
    ):
        columns = {name: rows[name] for name in ("begin_ns", "end_ns", "phase", *others)}
        frames.append(events.frame({"source": "driver", "event": event, **columns}, rows.height))
    return events.merge(frames)


_SHOWN_LINES = 20
# bytes of stdout and of stderr that are kept (workloads/command/printed.h)
KEPT_BYTES = 16 << 20


def read_command(folder: Path) -> Driver:
    """Read the files as those of a driver that ran the noted transactions. Raises FileError."""
    config = read_document(folder / "config.json", "command_config")
    transactions = pl.DataFrame(schema=drivertables.NOTED)
    if "transactions" in config:
        transactions = drivertables.noted_transactions(folder / "transactions.csv")
    return Driver(
        config,
        transactions,
        drivertables.phases(folder / "phases.csv", drivertables.PHASES),
        drivertables.device_stat(folder / "device_stat.csv"),
        None,
        None,
    )


def last_lines(folder: Path, name: str, wrote: int) -> str:
    """Return the last kept lines of `name`, stdout or stderr.

    wrote: bytes that the command wrote. If fewer were kept, a line is added.
    """
    path = folder / name
    content = path.read_bytes() if path.is_file() else b""
    lines = content.decode(errors="replace").splitlines()[-_SHOWN_LINES:]
    if wrote > len(content):
        lines.append(f"[{name}: {wrote} bytes, only the first {len(content)} are kept]")
    return "\n".join(lines)


def failure(config: dict[str, dict[str, int]]) -> str | None:
    """Return how the command failed, in words; None if it succeeded."""
    command = config["command"]
    if "signal" in command:
        return f"the command ended by signal {command['signal']}"
    if (status := command["exit_status"]) == 0:
        return None
    hint = {127: ": not found on the board", 126: ": not executable"}.get(status, "")
    if 128 < status <= 192:  # the status of a shell after a signal ended its command
        hint = f": as a shell ends after signal {status - 128}"
    return f"the command ended with exit status {status}{hint}"
