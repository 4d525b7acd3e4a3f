"""Attribute a run's block commands to transactions by running all steps of the ledger; return its tables."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from analysis.adapters.layouts import Layout
from analysis.ledger import contents, costs, small_tables
from analysis.ledger.background_io import BackgroundReasons
from analysis.ledger.causes import Causes
from analysis.ledger.chunks import Correlator
from analysis.ledger.files import Inodes, Lives, Writers, from_sync, names, with_listed
from analysis.ledger.records import Few, Records
from analysis.ledger.rows import Faults, Rows
from analysis.ledger.tables import tables
from analysis.ledger.timeline import timeline
from base.arrays import ints
from model import filesystems


@dataclass(frozen=True)
class Input:
    """The input of the ledger. All times are of one clock."""

    records: Records  # of all devices
    dev: int  # the device under test: major << 20 | minor
    layout: Layout
    vfs: pl.DataFrame  # vfs.csv
    transactions: pl.DataFrame
    phases: pl.DataFrame
    window: tuple[int, int]
    databases: Collection[str]  # base names of the databases' files
    calls: bool  # whether the engine logs its calls; without it vfs has none
    stores: bool = False  # Engine.stores
    # factor on measured time limits, which hold for an instruction of 2 ns
    slower: int = 1
    # whether times count the run's instructions (Recorded.counted), so that time limits hold
    counted: bool = True
    listed: Mapping[int, str] = field(default_factory=dict)  # inode → name, after the run
    # a file name → its role, "" standing for a nameless file; None: the engines' roles
    role: Callable[[str], str] | None = None
    jobs: Mapping[str, str] = field(default_factory=dict)  # Engine.JOBS
    # whether the release recorded the pages of reads; None: as the records show
    reads: bool | None = True
    moved: pl.DataFrame | None = None  # moved.csv
    lives: Lives = field(default_factory=dict)  # of a command's files; unused where calls are logged


@dataclass(frozen=True)
class Ledger:
    """The tables, and further data for the checks."""

    ledger: pl.DataFrame
    pieces: pl.DataFrame
    shares: pl.DataFrame
    deferred: pl.DataFrame
    reads: pl.DataFrame
    has_reads: bool  # whether it has all that were read
    syncs: pl.DataFrame
    commits: pl.DataFrame
    checkpoints: pl.DataFrame
    vfs: pl.DataFrame
    costs: pl.DataFrame
    given: Input
    few: Few  # of the device under test
    witness: pl.DataFrame  # costs.witnessed_syncs
    faults: Faults


def build(given: Input) -> Ledger:
    """Attribute all commands, and return the tables."""
    few = given.records.few(given.dev)
    line = timeline(few, given.transactions, given.phases, given.vfs)
    named = names(few, given.databases, given.role)
    # a log of the engine's calls names each file when it is opened
    if not given.calls:
        named = with_listed(from_sync(named, few["sync"]), given.listed, given.databases, given.role)
    inodes = Inodes(given.vfs, named, given.role("") if given.role else None)
    begun = ints(given.vfs["begin_ns"])
    calls = line.transaction(begun, np.full_like(begun, -1))
    nobody = BackgroundReasons(
        few, given.phases, {**filesystems.by_name(given.layout.filesystem).threads, **given.jobs}
    )
    causes = Causes(few, line, nobody)
    owners = contents.owners(given.vfs, calls, given.moved)
    totals, rows = costs.Totals(given.transactions.height), Rows(given.transactions, given.layout)
    correlator = Correlator(given.layout, inodes, Writers(given.vfs), causes, owners)
    for chunk in correlator.run(given.records.many(given.dev), given.window):
        totals.add(chunk)
        rows.add(chunk)
    del correlator, causes, chunk  # frees memory for the tables
    vfs = small_tables.calls(given.vfs, calls)
    with ThreadPoolExecutor(1) as pool:
        times = [rows.column("ledger", name) for name in ("kind", "issue_ns", "complete_ns")]
        making = pool.submit(tables, rows, few, given.phases)
        # This step needs the most memory. It runs in this thread, as each thread has its own allocator arena
        # and this one's is reused. Off-CPU times of a command's threads are not recorded
        # (probes/wait.bpf.c).
        in_place = given.layout.in_place
        split = None if line.lanes else costs.time_split(few, line.tids, given.transactions, in_place, *times)
        synced = small_tables.syncs(few["sync"], line, inodes, named)
        witness = costs.witnessed_syncs(vfs)
        commands, pieces, shares, deferred, reads, faults = making.result()
    has_reads = given.reads is not False
    if given.reads is None and not reads.is_empty():
        has_reads = bool((reads["label"] != "unattributed").any())
    witnessed = costs.by_transaction(witness, given.transactions.height)
    return Ledger(
        ledger=commands,
        pieces=pieces,
        shares=shares,
        deferred=deferred,
        reads=reads if has_reads else reads.clear(),
        has_reads=has_reads,
        syncs=synced,
        commits=small_tables.commits(few, line),
        checkpoints=small_tables.checkpoints(few["checkpoint"]),
        vfs=vfs,
        costs=costs.costs(given.transactions, totals, witnessed, synced, split),
        given=given,
        few=few,
        witness=witness,
        faults=faults,
    )
