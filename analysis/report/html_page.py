"""Render report.html, a run's report in one offline file; set up Jinja for all HTML pages."""

import base64
import itertools
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.content import coverage
from analysis.figures import latency, style
from analysis.instrument import cpu
from analysis.ledger import sums
from analysis.report import headline, terminal
from analysis.report.inspect_link import linked
from analysis.run import Run
from analysis.run_files.stored_files import NOT_HELD
from analysis.stats import totals
from analysis.stats.report_tables import BLOCK_COLUMNS, Tables
from base.text import percent
from base.version import version
from model import engines
from model.cell import unused

HERE = Path(__file__).parent
CAPTIONS = {
    "zoom": (
        "From the statement to the device",
        "Three consecutive transactions of each operation, of typical latency. From the top: the "
        "transaction; the engine's syncs, by the file they sync; what the filesystem did for "
        "them; the commands the device executed, with their flags (W write, S sync, M metadata, F before W "
        "a flush first, F after W FUA) and size. A sync that found nothing to do is a thin line.",
    ),
    "latency": (
        "Latency",
        "The share of transactions that ended within a time, by operation. Drag over a stretch to enlarge "
        "it.",
    ),
    "syncs": (
        "Syncs per transaction",
        "fsync and fdatasync calls within a transaction, by the file they sync.",
    ),
    "blocks": (
        "Block commands per transaction",
        "Commands issued to the device within a transaction, and what the writes among them carried.",
    ),
    "traffic": (
        "Traffic over time",
        "What was issued to the device, in equal bins of time. Dotted lines part the phases.",
    ),
}
# Figure -> the kind of events (tables.OBSERVED) it draws.
SHOWN = {"syncs": "syncs", "blocks": "commands", "traffic": "commands"}
# axes shown before the others
FIRST = ("fs", "journal_mode", "synchronous", "device", "workload", "n", "rows", "value_size", "page_size")


def render(
    run: Run,
    tables: Tables,
    manifest: dict[str, Any],
    summary: dict[str, Any],
    pictures: dict[str, Path],
    docs: str,
) -> str:
    """Return the page. All values are escaped, except our own figures. docs: where the pages of docs/ are."""
    watched = dict(tables.observed.iter_rows())
    template = environment().get_template("report.html.j2")
    figures = [
        {
            "name": name,
            "title": title,
            "caption": caption,
            "watched": watched.get(SHOWN.get(name), True),
            "svg": style.inline(pictures[name], title) if name in pictures else None,
        }
        for name, (title, caption) in CAPTIONS.items()
    ]
    without = {*engines.unused_axes(run.cell.engine), *unused(run.cell)}
    axes = {key: value for key, value in run.cell.axes() if key not in without}
    order = [*(key for key in FIRST if key in axes), *sorted(axes.keys() - set(FIRST))]
    page = template.render(
        summary=summary,
        DOCS=docs,
        not_held=NOT_HELD,
        without_content=coverage.WITHOUT,
        instruction_ns=cpu.measured(manifest["clock"]),
        virtual=(sentence := cpu.sentence(summary)) and sentence[0].upper() + sentence[1:],
        watched=watched,
        count=totals.transactions(summary),
        whole=totals.per_transaction(summary),
        seconds=terminal.seconds,
        mixed=terminal.MIXED,
        limits=headline.limits(summary),
        first=[*headline.operations(summary), *headline.of_checkpoints(summary)],
        slowest=headline.of_slowest(summary),
        syncs=terminal.by_file(summary.get("sync_us", {})),
        written=sum((summary["ledger"] or {"bytes": {}})["bytes"].values()),
        late=(summary["ledger"] or {}).get("deferred"),
        caused=sums.rows(summary["ledger"]) if summary["ledger"] else [],
        manifest=manifest,
        engine=run.driver.engine,
        figures=figures,
        latencies=latency.points(tables),
        zoom=Markup((HERE / "latency.mjs").read_text(encoding="utf-8")),
        axes={key: axes[key] for key in order},
        profiles=run.cell.profiles,
        operations=list(tables.operations.iter_rows(named=True)),
        phases=phase_rows(run, tables),
        flags=list(tables.flags.head(20).iter_rows(named=True)),
        block_columns=BLOCK_COLUMNS,
        device_time=device_time(run.board.device_time),
        lasts=(flash := terminal.lasts(summary.get("flash") or {})) and flash[0].upper() + flash[1:],
        when=_when(manifest["clock"].get("realtime_ns")),
    )
    return linked(page, run.folder)


def phase_rows(run: Run, tables: Tables) -> list[dict[str, Any]]:
    """Return the phases with the observed run's counts, and the durations that the rates are of."""
    timed = run.timing.phases.select("phase", duration_ns=pl.col("end_ns") - pl.col("begin_ns"))
    counts = tables.phases.drop("duration_ns")
    return counts.join(timed, on="phase", how="left", maintain_order="left").to_dicts()


def environment(*folders: Path) -> Environment:
    """Return the Jinja environment of pages: values are escaped and stripped of control characters.

    folders: those of further templates, which are found first.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, HERE, HERE.parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else _shown(value),
    )
    made.filters |= {"number": number, "percent": percent, "with_contents": with_contents}
    made.globals |= {
        "between": terminal.between,
        "version": version(),
        "KIB": 1 / 1024,
        "MIB": 2**-20,
    }
    return made


def with_contents(body: str) -> Markup:
    """Return the sections of a page below a list of links to them."""
    titles = re.findall("<h2>(.*?)</h2>", body)
    links = "".join(f'<li><a href="#part-{at}">{title}</a></li>' for at, title in enumerate(titles))
    numbers = itertools.count()
    linked = re.sub("<h2>", lambda _: f'<h2 id="part-{next(numbers)}">', body)
    return Markup(f'<nav aria-label="contents"><ul>{links}</ul></nav>\n{linked}')


def data_uri(path: Path) -> str:
    """Return an SVG figure as data for an <img>, so that ids of several figures do not collide."""
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()


def device_time(counters: dict[str, str]) -> list[tuple[str, float, float]]:
    """Return (cause, seconds, percent) of a device's `time_<cause>_ns` counters, largest first."""
    causes = {
        name.removeprefix("time_").removesuffix("_ns"): int(value) / 1e9
        for name, value in counters.items()
        if re.fullmatch("time_.*_ns", name) and re.fullmatch("[0-9]{1,18}", value) and int(value)
    }
    total = sum(causes.values())
    ranked = sorted(causes.items(), key=lambda item: -item[1])
    return [(name, seconds, 100 * seconds / total) for name, seconds in ranked]


def _shown(value: Any) -> Any:
    """Return a value as text without control characters; None as a dash."""
    return "–" if value is None else "\n".join(map(style.clean, str(value).split("\n")))


def number(value: float | None, digits: int = 2, factor: float = 1.0) -> str:
    """Return a number with thousands separators; None as a dash."""
    return "–" if value is None else f"{value * factor:,.{digits}f}"


def _when(realtime_ns: Any) -> str | None:
    """Return the board's wall clock as text, None if it is not a time."""
    try:
        return datetime.fromtimestamp(realtime_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (TypeError, ValueError, OverflowError, OSError):
        return None
