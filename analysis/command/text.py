"""Format the summary of a watched command (`make watch`) as text for the terminal, and as report.html."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.content import coverage
from analysis.instrument import cpu
from analysis.report.html_page import device_time, environment
from analysis.report.inspect_link import linked
from analysis.report.terminal import faults, heading, number, wrapped
from analysis.run import Run
from analysis.run_files.stored_files import NOT_HELD
from base import text

MOST = 12  # rows shown of a table


def table(summary: dict[str, Any], report: Path) -> str:
    """Return a command's summary as text, with the report's path at the end."""
    command, block, twin = summary["command"], summary["block"], summary["twin"]
    out = [
        *heading(summary),
        f"$ {command['line']}",
        *(line for name in ("stdout", "stderr") for line in command[name].split("\n") if line),
        command["failed"] or "the command ended with exit status 0",
        "",
    ]
    if block["writes"] is None:
        out += _unwatched(summary)
    else:
        out += [
            f"{number(summary['seconds'], 3)} s, and {number(summary['drain_seconds'], 3)} s for the drain; "
            f"{block['writes']} writes of {number(block['bytes_written'], 1, 1 / 1024)} KiB, "
            f"{block['flushes']} flushes, {block['fua']} FUA, {block['reads']} reads",
            *_syncs(summary["syncs"]),
            *_files(summary),
            *_causes(summary["causes"]),
        ]
        out += coverage.lines(summary["content"]) if summary["labels"] is not None else []
        counts = ", ".join(
            f"{who} {row['writes']} writes, {row['bytes_written']} bytes, {row['flushes']} flushes"
            for who, row in summary["counted"].items()
        )
        out += wrapped(f"counted by: {counts}")
    out += _transactions(summary["transactions"], block)
    if twin and twin["cost"] is not None:
        alike = (
            "the same number of writes, sectors and flushes"
            if twin["same_counts"]
            else "other counts of writes or flushes"
        )
        ends = "" if twin["ended_alike"] else ", and it ended differently"
        out.append(f"times are the baseline run's; watched it took {number(twin['cost'], 2, 100)} % more")
        out.append(f"  (the baseline run had {alike}{ends})")
    return "\n".join([*out, *faults({**summary, "not_checked": []}), f"report: {report}"])


def _unwatched(summary: dict[str, Any]) -> list[str]:
    """Return the numbers known without an observer: times, and the kernel's counters."""
    grew = summary["counters"]
    flushes = "flushes are not counted" if grew["flushes"] is None else f"{grew['flushes']} flushes"
    return [
        f"{number(summary['seconds'], 3)} s, and {number(summary['drain_seconds'], 3)} s for the drain; "
        f"by the kernel's counters {grew['writes']} writes of "
        f"{number(grew['bytes_written'], 1, 1 / 1024)} KiB, {grew['reads']} reads; {flushes}",
        "no observer ran: files and threads are unknown",
    ]


def _more(rows: list[Any]) -> list[str]:
    return [f"  … {len(rows) - MOST} more in the report"] if len(rows) > MOST else []


def _syncs(syncs: list[dict[str, Any]] | None) -> list[str]:
    if syncs is None:
        return ["", "syncs: the probes that record them were not all attached"]
    rows = [("syncs", "of", "what", "by", "call", "ms", "longest")]
    rows += [
        (
            *(str(row["syncs"]), row["name"], row["file"], row["thread"], row["caller"]),
            *(number(row["ns"], 3, 1e-6), number(row["longest_ns"], 3, 1e-6)),
        )
        for row in syncs[:MOST]
    ]
    return ["", f"{sum(row['syncs'] for row in syncs)} syncs", *aligned(rows), *_more(syncs)]


def _files(summary: dict[str, Any]) -> list[str]:
    if summary["files"] is None:
        return []
    rows = [("KiB written", "label")]
    rows += [(number(size, 1, 1 / 1024), label) for label, size in summary["labels"].items()]
    files = summary["files"]
    named = [("KiB of a file", "name", "what")]
    named += [(number(row["bytes"], 1, 1 / 1024), row["name"], row["file"]) for row in files[:MOST]]
    share = f"{summary['unattributed_share']:.3%} of the bytes written are unattributed"
    return ["", *aligned(rows), share, "", *aligned(named), *_more(files)]


def _causes(causes: list[dict[str, Any]] | None) -> list[str]:
    if causes is None:
        return []
    rows = [("KiB", "commands", "flushes", "submitted by", "waited for by", "reason")]
    rows += [
        (
            *(number(row["bytes"], 1, 1 / 1024), str(row["commands"]), str(row["flushes"])),
            *(row["thread"], row["waited"] or "-", row["reason"]),
        )
        for row in causes[:MOST]
    ]
    return ["", *aligned(rows), *_more(causes)]


def _transactions(transactions: dict[str, Any], block: dict[str, Any]) -> list[str]:
    """Return the transactions: device work per transaction in total, and costs by database and statement.

    Times are medians, costs are means. block: of the whole command, with the drain.
    """
    out = ["", *wrapped(f"transactions: {transactions['said']}")]
    if transactions["locks"] is not None:
        out += wrapped(f"locks: {transactions['locks']['said']}")
    if transactions["rows"] is None:
        return out
    if transactions["count"] and block["writes"] is not None:
        size = number(block["bytes_written"] / transactions["count"], 1, 1 / 1024)
        means = [number(block[name] / transactions["count"], 2) for name in ("writes", "flushes")]
        out += wrapped(
            f"per transaction in total: {size} KiB in {means[0]} writes, {means[1]} flushes, with writes "
            "at a close, by write-back and of the command's other work; below, those of the transactions:"
        )
    rows = [("transactions", "of", "begun by", "ms", "rows", "syncs", "writes", "KiB", "flushes")]
    for row in transactions["rows"][:MOST]:
        means = [number(row[name], 2) for name in ("syncs", "writes")]
        size, flushes = number(row["bytes"], 1, 1 / 1024), number(row["flushes"], 2)
        named = (str(row["transactions"]), row["file"] or "(no name)", row["op"])
        took = number(row["ns"], 3, 1e-6)
        rows.append((*named, took, str(row["changes"]), *means, size, flushes))
    out += [*aligned(rows), *_more(transactions["rows"])]
    if transactions["syncs_in_none"] is not None:
        out.append(f"{transactions['syncs_in_none']} syncs of these files are outside transactions")
    return out


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows as lines: numbers right-aligned, words left-aligned."""
    columns = enumerate(zip(*rows[1:], strict=True))
    numbers = [i for i, cells in columns if all(re.fullmatch(r"[0-9,.-]+", cell) for cell in cells)]
    return text.aligned(rows, numbers)


def render_page(run: Run, manifest: dict[str, Any], summary: dict[str, Any], docs: str) -> str:
    """Return the page. Every value is escaped. docs: where the pages of docs/ are."""
    page = (
        environment()
        .get_template("command/report.html.j2")
        .render(
            summary=summary,
            DOCS=docs,
            manifest=manifest,
            cell={name: value for name, value in run.cell.document().items() if name != "profiles"},
            device_time=device_time(run.board.device_time),
            not_held=NOT_HELD,
            without_content=coverage.WITHOUT,
            instruction_ns=cpu.measured(manifest["clock"]),
            watched={"commands": summary["block"]["writes"] is not None},
        )
    )
    return linked(page, run.folder)
