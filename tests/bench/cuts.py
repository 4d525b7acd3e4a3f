"""Power cuts an hour, and equal states, against dm-log-writes: `make bench-cuts [FS=… CUTS=…]`.

Takes the variables of `make experiment`; its own defaults are those of CELL.

- Ours: the cell's run, then boards of trials, one for each CPU (docs/explanation/durability.md).
- The peer: the same on the same board with the kernel's dm-log-writes under the filesystem, then its log
  replayed to each FLUSH of the run (guest/log-writes.sh, guest/replay.py), each state mounted under a
  snapshot and looked at by the same program. Its states are those at FLUSHes alone.
- Both on one run: of some of these FLUSHes, what the device's own history gives for a cut right after it
  that keeps nothing, and right before it that keeps everything, is compared with what the log gives: each
  byte that the run wrote, and what it is found to hold, by that program.

- Which of the log's states lack transactions that were acknowledged before the next FLUSH or FUA was done.

Exit code 1 where two differ. CPU seconds are of all of the host's CPUs; other work on it changes them less.
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import logged  # noqa: E402
import polars as pl  # noqa: E402
from boards import Part, Parts, at_once  # noqa: E402

from analysis import pipeline, stages  # noqa: E402
from analysis.crash import verdicts  # noqa: E402
from base.errors import BadInputError, LabError  # noqa: E402
from commitpath.boards.prepared import ensure_snapshot, virtual_board  # noqa: E402
from commitpath.cells.from_variables import make_cell  # noqa: E402
from commitpath.command_line import arguments, variables  # noqa: E402
from commitpath.host import ansible  # noqa: E402
from commitpath.host.packages import ensure_packages  # noqa: E402
from commitpath.run import crash_trials, experiment  # noqa: E402
from commitpath.run.plan import Plan, make  # noqa: E402
from images import programs  # noqa: E402
from images.board import VirtualBoard  # noqa: E402
from model.cell import Cell  # noqa: E402

CELL = {
    "DEVICE": "emmc-5.0",
    "MODE": "wal",
    "ROWS": "1000",
    "N": "30",
    "PROBES": "none",
    "CRASH": "power",
    "CUTS": "200",
}
# Of a trial, ms of the board's clock: from one time to the other (workloads/trials/trials.c).
STEPS = {
    "show": ("begin_ns", "shown_ns"),
    "mount": ("shown_ns", "mounted_ns"),
    "open": ("mounted_ns", "opened_ns"),
    "check": ("opened_ns", "read_ns"),
}


def ours(board: VirtualBoard, saved: Path, cell: Cell, planned: Plan) -> tuple[Parts, Parts, pl.DataFrame]:
    """A run and its cuts: the parts of the boards' time and of the host's, and the trials."""
    assert planned.trials is not None
    begin = time.monotonic()
    ran, _ = at_once(board, saved, [planned.runs[0].files], "the rest")
    host = Parts()
    with host.of("plan"):
        tried = crash_trials.trials(cell, ran[-1])
    sent = [
        crash_trials.payload(planned.trials, share)
        for share in crash_trials.shares(tried, crash_trials.boards())
    ]
    outputs, parts = at_once(board, saved, sent, "trials")
    all_of_it = crash_trials.Trials(outputs, {}, sum(part.wall for part in parts))
    facts, wall = experiment.host_facts(), time.monotonic() - begin
    folder = experiment.store(cell, planned, ran, all_of_it, wall, facts)
    stored = stages.build(folder)
    with host.of("verdict"):
        judged = verdicts.judge(stored, stored.ledger)
    assert judged is not None
    with host.of("all checks, tables and the report"):
        summary = pipeline.analyse(folder)
    if summary["status"] != "ok":
        raise LabError(f"the run was rejected: {'; '.join(summary['reasons'])} (kept in {folder})")
    return parts, host, judged


def steps(trials_: pl.DataFrame) -> list[str]:
    """Mean ms of the board's clock of each step of trials; fsck's by those that it looked at and the rest."""
    opened = trials_.filter(pl.col("opened") == 1)
    found = [f"{name} {mean_ms(opened, *edges):.0f}" for name, edges in STEPS.items()]
    looked, rest = (opened.filter((pl.col("fsck") >= 0) == which) for which in (True, False))
    unmount, both = (mean_ms(some, "read_ns", "end_ns") for some in (rest, looked))
    return [*found, f"unmount {unmount:.0f}", f"fsck, of those that it looks at, {both - unmount:.0f}"]


def mean_ms(rows: pl.DataFrame, begin: str, end: str) -> float:
    """Mean of a time, ms; 0 of no rows."""
    return float(rows.select((pl.col(end) - pl.col(begin)).mean()).item() or 0) / 1e6


def told(name: str, count: int, boards: int, parts: list[Part]) -> str:
    """A row of the table."""
    wall, cpu = (sum(getattr(part, what) for part in parts) for what in ("wall", "cpu"))
    each = "; ".join(f"{part.name} {part.wall:.1f} ({part.cpu:.1f})" for part in parts)
    rate = f"{count * 3600 / wall:.0f} | {cpu / count:.3f} | {parts[-1].cpu / count:.3f}"
    return f"| {name} | {boards} | {count} | {wall:.1f} | {cpu:.1f} | {rate} | {each} |"


def main(*words: str) -> int:
    """Print the tables; the exit code."""
    _, given = arguments.read(["bench-cuts", *words])
    given = variables.by_their_names(given)
    variables.check("bench-cuts", given)
    cell = make_cell({**variables.by_their_names(CELL), **given})
    if cell.crash == "none" or cell.probes:
        raise BadInputError("bench-cuts is of cells with CRASH that nothing watches")
    ensure_packages()
    entry = ansible.board(cell.board)
    board, planned = virtual_board(cell), make(cell, entry)
    saved = ensure_snapshot(cell, programs.driver(cell), entry)
    boards, host, judged = ours(board, saved, cell, planned)
    count = judged.height
    print(
        "| | boards at once | cuts | s | CPU s | an hour | CPU s a cut | of each further one | "
        "parts: s (CPU s) |\n|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    print(told("ours", count, crash_trials.boards(), boards), flush=True)
    peer = logged.peer(board, saved, planned)
    print(told("dm-log-writes, each FLUSH", peer.trials.height, 1, peer.parts), flush=True)
    mine, its = (sum(part.cpu for part in some) for some in (boards, peer.parts))
    ratio = (its / peer.trials.height) / (mine / count)
    further = (peer.parts[-1].cpu / peer.trials.height) / (boards[-1].cpu / count)
    print(f"\nCPU time of a cut, the peer's over ours: {ratio:.1f}; of each further one: {further:.1f}")
    print("\non the host: " + "; ".join(f"{part.name} {part.wall:.2f} s" for part in host))
    print(f"\nms of the board's clock, ours: {', '.join(steps(judged))}")
    print(f"ms of the board's clock, the peer: {', '.join([*logged.steps(peer), *steps(peer.trials)[1:]])}")
    print(
        "\nstates of the log without what was acknowledged: " + ("; ".join(logged.lost(cell, peer)) or "none")
    )
    differ = logged.same(board, saved, cell, planned, peer)
    print("\n".join(differ.lines))
    return 1 if differ.found else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (BadInputError, LabError) as error:
        sys.exit(f"bench-cuts: {error}")
