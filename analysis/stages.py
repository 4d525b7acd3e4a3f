"""Build a run in four stages: read its files, attribute bytes (ledger), confirm content, judge crash trials.

Each stage is a function of the stages before it. Checks, tables and summary follow in analysis/pipeline.py.
"""

from pathlib import Path

from analysis import content
from analysis.adapters import drivertables, proberecords
from analysis.content import relabelled
from analysis.crash import verdicts
from analysis.ledger import build as ledger_build
from analysis.ledger import files, records
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded, read
from analysis.run import Run
from analysis.run_files import databases
from base import identity
from model import engines

_CPU_NS = 2  # ns per instruction assumed by the ledger's limits


def build(folder: Path) -> Run:
    """Read the run in `folder` and build its parts, in their order. Raises FileError."""
    recorded = read(folder)
    attributed = attribute(recorded)
    ledger, compared = confirm(recorded, attributed)
    judged = verdicts.judge(recorded, ledger)
    return Run(**vars(recorded), ledger=ledger, content=compared, judged=judged)


def attribute(run: Recorded) -> Ledger | None:
    """Return the ledger, or None if some of its input was not recorded."""
    ran, layout = run.driver, run.board.layout
    watched = (run.folder / "raw/probes.bin").is_file()
    recorded = run.has_ledger and watched and len(run.devices) == 1
    logs_calls = ran.engine.logs_calls(ran.config)
    vfs = ran.vfs if logs_calls else drivertables.no_calls()
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
            calls=logs_calls,
            stores=of_driver and ran.engine.stores(ran.engine.in_effect(ran.config)),
            slower=max(1, run.cell.cpu_ns // _CPU_NS),
            counted=run.counted,
            listed=run.board.names,
            # the name of a command's file does not identify its content
            role=None if of_driver else lambda _name: "other",
            jobs=ran.engine.JOBS,
            moved=ran.moved,
            reads=run.cell.has("cache") if of_driver else None,
            lives={} if of_driver else files.lives(proberecords.chunks(path), dev),
        )
    )


def confirm(run: Recorded, ledger: Ledger | None) -> tuple[Ledger | None, content.Content | None]:
    """Compare the ledger with the bytes written; return it with their labels and verdicts, and the result.

    The result is None if the bytes were not kept.
    """
    if ledger is None:
        return None, None
    for kept in run.contents.values():
        ledger = relabelled.metadata(ledger, kept)
        if run.cell.load == identity.COMMAND:  # its files are known by their content only
            ledger = relabelled.files(ledger, kept, run.board.heads)
        return content.judge(ledger, kept, _source(run))
    return content.unjudged(ledger), None


def _source(run: Recorded) -> content.Given:
    """Return the engine and board that the bytes come from; a command has no engine."""
    folder, superblock = run.folder / "raw/board", run.board.superblock
    if run.cell.load == identity.COMMAND:
        return content.Given("", {}, folder, superblock)
    config, name = run.driver.config, engines.name_in(run.driver.config)
    return content.Given(
        engine=name,
        settings=run.driver.engine.in_effect(config),
        board=folder,
        superblock=superblock,
        release=str(config[name].get("version", "")),
        sizes=tuple(
            {role: size for role, size in database.config["file_sizes"].items() if isinstance(size, int)}
            for database in databases.split(config, run.driver.transactions.height)
        ),
    )
