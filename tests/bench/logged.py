"""Run a cell over dm-log-writes for cuts.py: its log's states, their losses, and the device's compared."""

import gzip
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from boards import RUN, Parts, at_once

from analysis.adapters import device_logs, driver, trials
from analysis.adapters.device_logs import DeviceLog
from analysis.crash import prefixes, verdicts
from analysis.crash.align import Ran
from base.errors import LabError
from commitpath.run import compressed_files
from commitpath.run.plan import Plan
from images.board import VirtualBoard
from images.cellrun import RunOutput
from model.block_operations import OP, WRITE
from model.cell import Cell
from model.crash_points import cuts, policies
from model.crash_points.durable import SECTOR, Cache, Commands

GUEST = Path(__file__).resolve().parent / "guest"
MARKS = {"copy of the device": "peer: copied", **RUN, "the log's end": "peer: states"}
SAME = 12
# What a state is compared by.
HOLDS = ["mount_error", "opened", "is_read", "is_whole", "rows", "hash"]


@dataclass(frozen=True)
class Peer:
    """States at FLUSHes, by the number of each in the log, and what they took."""

    trials: pl.DataFrame  # analysis.adapters.trials.TRIALS
    times: pl.DataFrame
    parts: Parts
    log: DeviceLog  # of the device below
    driver: driver.Driver


@dataclass(frozen=True)
class Compared:
    """found: whether two states differ."""

    found: bool
    lines: list[str]


def sent(planned: Plan, look: str, more: dict[str, bytes], history: int) -> dict[str, bytes]:
    """What a board gets that runs over dm-log-writes."""
    assert planned.trials is not None
    files = planned.trials.files
    told = f"LOOK={look}\nDEVICE_HISTORY={history}\n".encode()
    scripts = {"run-cell.sh": "log-writes.sh", "replay.py": "replay.py"}
    own = {name: (GUEST / source).read_bytes() for name, source in scripts.items()}
    return {**files, **own, **more, "cell.env": files["cell.env"] + told}


def member(output: RunOutput, name: str, folder: Path) -> Path:
    """A file of raw/ in a folder; LabError where the board sent none."""
    if output.failed:
        raise LabError(f"the board failed: {output.text('run-cell.log').strip()}")
    with tarfile.open(fileobj=io.BytesIO(output.tar)) as tar:
        file = tar.extractfile(f"raw/{name}")
        assert file is not None
        path = folder / name
        path.write_bytes(file.read())
    return path


def device_log(output: RunOutput, planned: Plan, folder: Path) -> DeviceLog:
    """The log of the device below, whole."""
    reader = device_logs.find_reader(planned.runs[0].cell)
    assert reader is not None
    log = reader.read_log(member(output, "device.bin", folder))
    if log.lost:
        raise LabError("the device's log does not have all of the run")
    return log


def peer(board: VirtualBoard, saved: Path, planned: Plan) -> Peer:
    """The run, and what each FLUSH's state holds."""
    files = sent(planned, "states", {}, 0)
    (output,), parts = at_once(board, saved, [files], "states", MARKS)
    with TemporaryDirectory() as work:
        found = trials.read_table(member(output, "trials.csv", Path(work)), trials.TRIALS)
        times = pl.read_csv(member(output, "parts.csv", Path(work)))
        output.extract(Path(work))
        compressed_files.compress_rendered(Path(work) / "raw/driver")
        ran = driver.read(Path(work) / "raw/driver")
        return Peer(found, times, parts, device_log(output, planned, Path(work)), ran)


def lost(cell: Cell, peer: Peer) -> list[str]:
    """Which FLUSHes' states lack what was acknowledged before the next thing was durable: a FLUSH or FUA."""
    commands = Commands(peer.log.entries, Cache.from_profile(cell.profiles["device"]))
    begins, ends = (peer.driver.transactions[name].to_numpy() for name in ("begin_ns", "end_ns"))
    flushes, found = commands.is_flush.nonzero()[0], []
    until = []
    for number in peer.trials["trial"]:
        command = int(flushes[number])
        durable = commands.end[command + 1 :][(commands.is_flush | commands.is_fua)[command + 1 :]]
        until.append(int(durable.min(initial=commands.end.max())))
    tried = peer.trials.with_columns(
        acknowledged=pl.Series(ends.searchsorted(until)), begun=pl.Series(begins.searchsorted(until))
    )
    known = prefixes.ExpectedStates(prefixes.states(cell, verdicts.phases_of(peer.driver), tried))
    for row in tried.iter_rows(named=True):
        command, acknowledged = int(flushes[row["trial"]]), row["acknowledged"]
        held = known.held(row)
        if held is None or (known.between(held, acknowledged) or 0) > 0:
            found.append(
                f"FLUSH {row['trial']}, command {command}: of {acknowledged} acknowledged transactions its "
                f"state holds {'no number' if held is None else held}"
            )
    return found


def steps(peer: Peer) -> list[str]:
    """Mean ms of the board's clock of what a state takes besides."""
    return [
        f"{name.removesuffix('_ns')} {float(peer.times.select(pl.mean(name)).item() or 0) / 1e6:.0f}"
        for name in ("replay_ns", "snapshot_ns", "remove_ns")
    ]


def states(log: DeviceLog, cell: Cell, flushes: list[int]) -> list[tuple[int, cuts.Trial]]:
    """Of FLUSHes by their number: right after each all is lost that may be, right before each nothing."""
    commands = Commands(log.entries, Cache.from_profile(cell.profiles["device"]))
    numbers = commands.is_flush.nonzero()[0].tolist()
    found: list[tuple[int, cuts.Trial]] = []
    for flush in flushes:
        command = numbers[flush]
        for where, moment, policy in (
            ("before", int(commands.begin[command]) - 1, policies.EVERYTHING),
            ("after", int(commands.end[command]), policies.NOTHING),
        ):
            may_lose = commands.losable(moment).tolist()
            lost = tuple(may_lose if policy == policies.NOTHING else ())
            of_cut = (len(found), command, where, moment, policy, commands.arrived(moment), len(may_lose))
            found.append((flush, cuts.Trial(*of_cut, lost)))
    return found


def written(log: DeviceLog) -> str:
    """Begin and end in bytes of each place that was written to, of whole pages, a line each."""
    kind = (log.entries["operation"] & OP) == WRITE
    begin, sectors = (log.entries[name][kind].astype(int) for name in ("sector", "sectors"))
    pages = sorted(
        {
            page
            for one, count in zip(begin, sectors, strict=True)
            for page in range(one // 8, -(-(one + count) // 8))
        }
    )
    lines, first = [], 0
    for place, page in enumerate(pages):
        if place + 1 == len(pages) or pages[place + 1] != page + 1:
            lines.append(f"{pages[first] * 4096},{(page + 1) * 4096}\n")
            first = place + 1
    return "".join(lines)


def writer(log: DeviceLog, sector: int, before: int) -> int:
    """The last command before one that wrote to a sector; -1: none."""
    entries = log.entries[:before]
    first, behind = entries["sector"], entries["sector"] + entries["sectors"]
    wrote = ((entries["operation"] & OP) == WRITE) & (first <= sector) & (sector < behind)
    return max(wrote.nonzero()[0].tolist(), default=-1)


def same(board: VirtualBoard, saved: Path, cell: Cell, planned: Plan, peer: Peer) -> Compared:
    """Do the run once more over dm-log-writes, and compare the device's own states with the log's.

    In the drain and in the umount behind it several threads of the kernel write at once, in any order. States
    behind the first command that came in another order there are not compared.
    """
    every = peer.trials["trial"].to_list()
    chosen = sorted({every[place * (len(every) - 1) // max(SAME - 1, 1)] for place in range(SAME)})
    wanted = states(peer.log, cell, chosen)
    lines = [one.line() for _, one in wanted]
    plan = "".join(
        f"{flush},{','.join(line.split()[1:])}\n" for (flush, _), line in zip(wanted, lines, strict=True)
    )
    more = {"plan.csv": plan.encode(), "written.csv": written(peer.log).encode()}
    more["trials.gz"] = gzip.compress("".join(lines).encode(), mtime=0)
    (output,), _ = at_once(board, saved, [sent(planned, "same", more, 1)], "states")
    with TemporaryDirectory() as work:
        again = device_log(output, planned, Path(work))
        alike = device_logs.common_prefix(again.entries, peer.log.entries)
        if alike < (drain := Ran(peer.driver, peer.log).numbers.drain):
            each = [device_logs.command_keys(log.entries[alike : alike + 1]) for log in (peer.log, again)]
            raise LabError(
                f"the run over dm-log-writes did other commands when it was done again: command {alike} of "
                f"{drain} before the drain was {each[0]}, and then {each[1]} (operation, sector, sectors)"
            )
        first = pl.read_csv(member(output, "same.csv", Path(work)))["first_difference"].to_list()
        own = trials.read_table(member(output, "trials.csv", Path(work)), trials.TRIALS)
    theirs = {row["trial"]: row for row in peer.trials.iter_rows(named=True)}
    found = []
    compared = 0
    for (flush, trial), at, row in zip(wanted, first, own.iter_rows(named=True), strict=True):
        if trial.arrived > alike:
            continue
        compared += 1
        what = f"FLUSH {flush}, {trial.where} command {trial.command}, {trial.policy}"
        if at >= 0:
            by = f"byte {at}, of command {writer(peer.log, at // SECTOR, trial.command)},"
            found.append(f"{what}: {by} is another in the device's own state than in the log's")
        found += [
            f"{what}: {name} is {row[name]!r} of the device's own state, {theirs[flush][name]!r} of the log's"
            for name in HOLDS
            if row[name] != theirs[flush][name]
        ]
    equal = (
        f"{compared} of {len(wanted)} states at {len(chosen)} FLUSHes by the device's history and by "
        "dm-log-writes' log"
    )
    return Compared(
        bool(found),
        found or [f"\n{equal}: the same in each byte that the run wrote, and each holds the same"],
    )
