"""Build a run stage by stage: read, ledger, content, crash. Each uses the stages before it."""

from __future__ import annotations

from pathlib import Path

from analysis import content
from analysis.adapters import drivertables, proberecords
from analysis.content import file_roles, reused
from analysis.crash import verdicts
from analysis.ledger import build as ledger_build
from analysis.ledger import lives, records
from analysis.run import Run, read
from analysis.run_files import databases
from base import identity
from model import engines

_CPU_NS = 2  # ns per instruction assumed by the ledger's limits


def build(folder: Path) -> Run:
    """Read the run in `folder` and build its parts, in their order. Raises BadInput."""
    run = read(folder)
    run.ledger = _ledger(run)
    _witness_bytes(run)
    run.judged = verdicts.judge(run)
    return run


def _ledger(run: Run) -> ledger_build.Ledger | None:
    """Return the ledger, or None if some of its input was not recorded."""
    ran, layout = run.driver, run.board.layout
    watched = (run.folder / "raw/probes.bin").is_file()
    recorded = run.has_ledger and watched and len(run.devices) == 1
    vfs = ran.vfs if ran.engine.LOGS_CALLS else drivertables.no_calls()
    if not recorded or layout is None or vfs is None:
        return None
    major, minor = map(int, run.devices[0].split(":"))
    of_driver = run.cell.load == identity.DRIVER
    path, dev = run.folder / "raw/probes.bin", major << 20 | minor
    return ledger_build.build(
        ledger_build.Input(
            records=records.read(path, run.partition),
            dev=dev,
            layout=layout,
            vfs=vfs,
            transactions=ran.transactions,
            phases=ran.phases,
            window=ran.window,
            databases=run.databases,
            calls=ran.engine.LOGS_CALLS,
            slower=max(1, run.cell.cpu_ns // _CPU_NS),
            counted=run.counted,
            listed=run.board.names,
            role=None if of_driver else _of_a_command,
            jobs=ran.engine.JOBS,
            reads=run.cell.has("cache") if of_driver else None,
            lives={} if of_driver else lives.lives(proberecords.chunks(path), dev),
        )
    )


def _of_a_command(_name: str) -> str:
    """Return the role of any file of a command: its name does not identify its content."""
    return "other"


def _witness_bytes(run: Run) -> None:
    """Check the ledger against the bytes written, if both were recorded."""
    if run.ledger is None:
        return
    for kept in run.contents.values():
        run.ledger = reused.relabelled(run.ledger, kept)
    if run.cell.load == identity.COMMAND:
        _recognise(run)
        return
    ran, name = run.driver, engines.name_in(run.driver.config)
    given = content.Given(
        engine=name,
        settings=ran.config["effective"],
        board=run.folder / "raw/board",
        superblock=run.board.superblock,
        release=str(ran.config[name].get("version", "")),
        sizes=tuple(
            {role: size for role, size in one.config["file_sizes"].items() if isinstance(size, int)}
            for one in databases.of(ran.config, ran.transactions.height)
        ),
    )
    for kept in run.contents.values():
        run.ledger, run.content = content.judge(run.ledger, kept, given)
        return
    run.ledger = content.unjudged(run.ledger)


def _recognise(run: Run) -> None:
    """Recognise a command's SQLite files by their content, then check the bytes of the rest."""
    if run.ledger is None:
        return
    unknown = content.Given("", {}, run.folder / "raw/board", run.board.superblock)
    for kept in run.contents.values():
        run.ledger = file_roles.files(run.ledger, kept, run.board.heads)
        run.ledger, run.content = content.judge(run.ledger, kept, unknown)
        return
    run.ledger = content.unjudged(run.ledger)
