"""Render inspect.html: the packed tables of a run or trace, with the JavaScript modules that draw them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.figures import style
from analysis.inspect import external_trace, trace_gaps
from analysis.inspect.load import NEEDED, Loaded
from analysis.inspect.pack import pack
from analysis.ledger import wal_checkpoints
from analysis.schemas import ledger as schema
from model import operations

# {table: (its columns for the page, those stored as differences)}
Frames = dict[str, tuple[pl.DataFrame, tuple[str, ...]]]
Given = Loaded | Mapping[str, pl.DataFrame]
Reason = Callable[[int], str]
HERE = Path(__file__).parent
# part of all sectors: a longer stretch that no command touches is folded
_UNTOUCHED = 0.03
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def render(run: Loaded, cut: Mapping[str, Any] | None = None) -> str:
    """Return the page, with the cut of a trial on it. Text of the run reaches it only as JSON and as packed
    bytes."""
    summary = run.run.summary
    about = {
        "cell": style.clean(str(summary["cell_name"])),
        "run": style.clean(str(summary["run_id"])),
        "clock": style.clean(str(summary["clock"])),
        "rejected": [style.clean(reason) for reason in run.run.rejected],
        "origin": run.origin,
        "cut": cut,
        "written": dict.fromkeys(schema.LABELS, 0) | run.written(),
        "none": run.for_none(),
        "labels": schema.LABELS,
        "kinds": schema.KINDS,
        "colors": {"kinds": style.LABELS | style.COMMANDS, "files": style.FILES, "ops": operations.colors()},
    }
    return _page(about, _frames(run, run.origin, run.reason))


def render_trace(trace: external_trace.Trace) -> str:
    """Return the page of a block trace alone: all tables but the one of its commands are empty."""
    rows, end = trace.shown, pl.col("end_ns").fill_null(pl.col("begin_ns"))
    commands = rows.select(
        rwbs="rwbs",
        kind="lane",
        # a flush has no sectors
        sector=pl.when(pl.col("sectors") > 0).then("sector"),
        bytes=pl.col("sectors") * 512,
        queue_ns="queue_ns",
        issue_ns="begin_ns",
        complete_ns=end,
        tid="tid",
        comm="comm",
        device="dev",
        error="result",
        failure=pl.when(pl.col("result") > 0).then(
            pl.col("result").map_elements(trace_gaps.error_name, return_dtype=pl.String)
        ),
    )
    added = {"kind": pl.String, "device": pl.String, "error": pl.Int64, "failure": pl.String}
    empty = {name: pl.DataFrame(schema=spec) for name, spec in NEEDED.items()}
    empty["wal"] = pl.DataFrame(schema=wal_checkpoints.SCHEMA)
    empty["vfs"] = empty["vfs"].with_columns(wal=pl.lit(None, pl.Int64))
    empty["script"] = pl.DataFrame(schema={"begin_ns": pl.Int64, "text": pl.String})
    ledger = commands.select(
        (pl.col(name) if name in commands.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in (NEEDED["ledger"] | added).items()
    )
    # the clock of blkparse's text begins at 0, the kernel's where the machine booted
    origin = int(rows["begin_ns"][0])
    kinds = {style.clean(name): color for name, color in trace.colors.items()}
    about = {
        **{"cell": style.clean(trace.name), "run": "", "clock": "", "rejected": [], "labels": []},
        "origin": origin,
        "kinds": list(kinds),
        "colors": {"kinds": kinds, "files": {}, "ops": {}},
        "trace": {
            "facts": style.clean(". ".join(external_trace.facts(trace))),
            "notice": style.clean(external_trace.notice(trace)),
        },
    }
    return _page(about, _frames({**empty, "ledger": ledger}, origin, lambda bits: f"{bits}"))


def _page(about: dict[str, Any], frames: Frames) -> str:
    packed = {name: pack(table, deltas) for name, (table, deltas) in frames.items()}
    about["tables"] = {name: spec for name, (spec, _) in packed.items()}
    about["touched"] = _touched(frames["commands"][0])
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}  # columns keep their order
    return environment.get_template("page.html.j2").render(
        title=about["cell"],
        about=about,
        packed={name: data for name, (_, data) in packed.items()},
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        code=Markup(code()),
    )


def code() -> str:
    """Return the page's modules as one: each after those it imports, without import and export."""
    order: list[str] = []

    def add(name: str) -> None:
        text = (HERE / name).read_text(encoding="utf-8")
        for needed in re.findall(r'^import [^;]* from "\./([a-z]+\.mjs)";$', text, re.MULTILINE):
            if needed not in order:
                add(needed)
        order.append(name)

    add("page.mjs")
    texts = ((HERE / name).read_text(encoding="utf-8") for name in order)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)


def _touched(commands: pl.DataFrame) -> list[list[tuple[int, int]]]:
    """Return, for each device, the stretches (from, to) of sectors with no long untouched part in them."""
    rows = commands.filter(pl.col("bytes") > 0, pl.col("sector").is_not_null())
    devices = commands["device"].unique(maintain_order=True) if "device" in commands.columns else [None]
    stretches = []
    for device in devices:
        part = rows if device is None else rows.filter(pl.col("device") == device)
        ends = part.select(begin="sector", end=pl.col("sector") + (pl.col("bytes") + 511) // 512).sort(
            "begin"
        )
        first, last = (int(value or 0) for value in ends.select(pl.min("begin"), pl.max("end")).row(0))
        gap = pl.col("begin") - pl.col("end").cum_max().shift(1)
        is_long = (gap > max((last - first) * _UNTOUCHED, 2048)).fill_null(True)
        each = ends.group_by(is_long.cum_sum().alias("stretch"), maintain_order=True).agg(
            pl.min("begin"), pl.max("end")
        )
        stretches.append(each.select("begin", "end").rows() or [(0, 1)])
    return stretches


def _journal(run: Given, reason: Reason, begin: pl.Expr, took: pl.Expr) -> pl.DataFrame:
    """Return commits and checkpoints as one table: what, begin, took, number, blocks, reason."""
    none = pl.lit(None, pl.Int64)
    return pl.concat(
        [
            run["commits"].select(
                *(pl.lit("journal commit").alias("what"), begin, took, pl.col("commit").alias("number")),
                *("blocks", "waiting", pl.lit(None, pl.String).alias("reason")),
            ),
            run["checkpoints"].select(
                *(pl.lit("checkpoint").alias("what"), begin, took, pl.col("checkpoint").alias("number")),
                *(none.alias("blocks"), none.alias("waiting")),
                pl.col("reason").map_elements(reason, return_dtype=pl.String),
            ),
        ]
    )


def _frames(run: Given, origin: int, reason: Reason) -> Frames:
    """Return the tables' columns for the page; times are counted from origin. reason: of a checkpoint,
    from its bits."""
    begin = (pl.col("begin_ns") - origin).alias("begin")
    took = (pl.col("end_ns") - pl.col("begin_ns")).alias("took")
    transactions = run["transactions"].select("op", "phase", begin, took)
    commits = run["commits"].height
    ledger = run["ledger"].select(
        (pl.col("issue_ns") - origin).alias("begin"),
        (pl.col("complete_ns") - pl.col("issue_ns")).alias("took"),
        (pl.col("issue_ns") - pl.col("queue_ns")).alias("queued"),
        pl.exclude("command", "queue_ns", "issue_ns", "complete_ns", "commit", "checkpoint"),
        pl.coalesce(pl.col("commit"), pl.col("checkpoint") + commits).alias("journal"),
    )
    costs = run["costs"].drop("transaction", "phase", "op", "latency_ns")
    sorted_by_begin = ("begin",)
    phases = run["phases"].select(begin, took, "phase", "transactions")
    return {
        "phases": (phases, ()),
        "transactions": (pl.concat([transactions, costs], how="horizontal"), sorted_by_begin),
        "vfs": (run["vfs"].select(begin, took, pl.exclude("call", "begin_ns", "end_ns")), sorted_by_begin),
        "wal": (
            run["wal"].select(
                pl.lit("WAL checkpoint").alias("what"), begin, took, pl.exclude("begin_ns", "end_ns")
            ),
            sorted_by_begin,
        ),
        "syncs": (
            run["syncs"].select(begin, took, pl.exclude("sync", "begin_ns", "end_ns")),
            sorted_by_begin,
        ),
        "journal": (_journal(run, reason, begin, took), ()),
        "commands": (ledger, sorted_by_begin),
        "pieces": (run["pieces"], ("command",)),
        "shares": (run["shares"], ()),
        "deferred": (run["deferred"], ()),
        "script": (
            run["script"].select(
                begin, pl.lit(0).alias("took"), pl.lit("script").alias("what"), pl.col("text").alias("line")
            ),
            sorted_by_begin,
        ),
    }
