"""A watched command on the terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.content import told
from analysis.report.terminal import number, refused
from analysis.run_files.stored_files import NOT_HELD

MOST = 12  # rows of a table


def table(summary: dict[str, Any], report: Path) -> str:
    """Return a command's summary, ended by the report's path."""
    command, block, twin = summary["command"], summary["block"], summary["twin"]
    out = [
        f"{summary['cell_name']}  {summary['run_id'] or '(no run id)'}  {summary['status'].upper()}",
        *(f"  rejected: {reason}" for reason in summary["reasons"]),
        *([] if summary["raw_held"] else [f"  {NOT_HELD}"]),
        "",
        f"$ {command['line']}",
        *(line for name in ("stdout", "stderr") for line in command[name].split("\n") if line),
        command["failed"] or "the command ended with exit status 0",
        "",
    ]
    if block["writes"] is None:
        out += _unwatched(summary)
    else:
        out += [
            f"{number(summary['seconds'], 3)} s, and {number(summary['drain_seconds'], 3)} s for the rest; "
            f"{block['writes']} writes of {number(block['bytes_written'], 1, 1 / 1024)} KiB, "
            f"{block['flushes']} flushes, {block['fua']} FUA, {block['reads']} reads",
            *_syncs(summary["syncs"]),
            *_files(summary),
            *_causes(summary["causes"]),
        ]
        out += told.lines(summary["content"]) if summary["labels"] is not None else []
        out += textwrap.wrap(_witnesses(summary), 80, subsequent_indent="  ")
    out += _transactions(summary["transactions"], block)
    if twin and twin["cost"] is not None:
        alike = (
            "as many writes, sectors and flushes"
            if twin["same_counts"]
            else "other counts of writes or flushes"
        )
        ends = "" if twin["ended_alike"] else ", and it ended otherwise"
        out.append(f"times are the untraced twin's; watched it took {number(twin['cost'], 2, 100)} % more")
        out.append(f"  (the twin had {alike}{ends})")
    return "\n".join([*out, *refused({**summary, "not_checked": []}), f"report: {report}"])


def _unwatched(summary: dict[str, Any]) -> list[str]:
    """What is known without an observer: times, and the kernel's counters."""
    grew = summary["counters"]
    flushes = "its flushes are not counted" if grew["flushes"] is None else f"{grew['flushes']} flushes"
    return [
        f"{number(summary['seconds'], 3)} s, and {number(summary['drain_seconds'], 3)} s for the rest; "
        f"by the kernel's counters {grew['writes']} writes of "
        f"{number(grew['bytes_written'], 1, 1 / 1024)} KiB, {grew['reads']} reads; {flushes}",
        "nothing was watched: which file and which thread is not known",
    ]


def _more(rows: list[Any]) -> list[str]:
    return [f"  … {len(rows) - MOST} more in the report"] if len(rows) > MOST else []


def _syncs(syncs: list[dict[str, Any]] | None) -> list[str]:
    if syncs is None:
        return ["", "syncs: not all was watched that tells them"]
    rows = [("syncs", "of", "what", "by", "call", "ms", "longest")]
    rows += [
        (
            *(str(one["syncs"]), one["name"], one["file"], one["thread"], one["caller"]),
            *(number(one["ns"], 3, 1e-6), number(one["longest_ns"], 3, 1e-6)),
        )
        for one in syncs[:MOST]
    ]
    return ["", f"{sum(one['syncs'] for one in syncs)} syncs", *aligned(rows), *_more(syncs)]


def _files(summary: dict[str, Any]) -> list[str]:
    if summary["files"] is None:
        return []
    rows = [("KiB written", "label")]
    rows += [(number(size, 1, 1 / 1024), label) for label, size in summary["labels"].items()]
    files = summary["files"]
    named = [("KiB of a file", "name", "what")]
    named += [(number(one["bytes"], 1, 1 / 1024), one["name"], one["file"]) for one in files[:MOST]]
    share = f"{summary['unattributed_share']:.3%} of the bytes written are unattributed"
    return ["", *aligned(rows), share, "", *aligned(named), *_more(files)]


def _causes(causes: list[dict[str, Any]] | None) -> list[str]:
    if causes is None:
        return []
    rows = [("KiB", "commands", "flushes", "handed in by", "waited for by", "why")]
    rows += [
        (
            *(number(one["bytes"], 1, 1 / 1024), str(one["commands"]), str(one["flushes"])),
            *(one["thread"], one["waited"] or "-", one["reason"]),
        )
        for one in causes[:MOST]
    ]
    return ["", *aligned(rows), *_more(causes)]


def _transactions(known: dict[str, Any], block: dict[str, Any]) -> list[str]:
    """Say what is known of them: what the device was given for each in all, and for each kind the median of
    its time and the means of what one caused. block: of the whole command, with the drain."""
    out = ["", *textwrap.wrap(f"transactions: {known['said']}", 80, subsequent_indent="  ")]
    if known["locks"] is not None:
        out += textwrap.wrap(f"locks: {known['locks']['said']}", 80, subsequent_indent="  ")
    if known["rows"] is None:
        return out
    if known["count"] and block["writes"] is not None:
        size = number(block["bytes_written"] / known["count"], 1, 1 / 1024)
        means = [number(block[name] / known["count"], 2) for name in ("writes", "flushes")]
        out += textwrap.wrap(
            f"per transaction in all: {size} KiB in {means[0]} writes, {means[1]} flushes, with what is "
            "written at a close, by write-back and by what else the command does; below, what each caused:",
            80,
            subsequent_indent="  ",
        )
    rows = [("transactions", "of", "begun by", "ms", "rows", "syncs", "writes", "KiB", "flushes")]
    for one in known["rows"][:MOST]:
        means = [number(one[name], 2) for name in ("syncs", "writes")]
        size, flushes = number(one["bytes"], 1, 1 / 1024), number(one["flushes"], 2)
        named = (str(one["transactions"]), one["file"] or "(no name)", one["op"])
        took = number(one["ns"], 3, 1e-6)
        rows.append((*named, took, str(one["changes"]), *means, size, flushes))
    out += [*aligned(rows), *_more(known["rows"])]
    if known["syncs_in_none"] is not None:
        out.append(f"{known['syncs_in_none']} syncs of such files are in no transaction")
    return out


def _witnesses(summary: dict[str, Any]) -> str:
    told_by = ", ".join(
        f"{who} {row['writes']} writes, {row['bytes_written']} bytes, {row['flushes']} flushes"
        for who, row in summary["counted"].items()
    )
    return f"counted by: {told_by}"


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows as lines: numbers to the right, words to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    is_number = [
        all(re.fullmatch(r"[0-9,.-]+", cell) for cell in column[1:]) for column in zip(*rows, strict=True)
    ]
    return [
        "  ".join(
            f"{cell:>{width}}" if right else f"{cell:<{width}}"
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in rows
    ]
