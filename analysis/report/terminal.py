"""Render a run's summary as a table for the terminal."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from analysis.content import coverage
from analysis.instrument import cpu
from analysis.ledger import attribution
from analysis.run_files.stored_files import NOT_HELD
from analysis.stats import totals

# the two views of deferred bytes (docs/reference/ledger.md)
_VIEWS = {"for_others": "of it deferred, others'", "deferred": "deferred, its own"}
_PER_TRANSACTION = (
    "(writes, KiB and flushes are per transaction: in the row and column `all` of everything, with what is "
    "written at the close and by write-back; of an operation what its transactions waited for or caused)"
)
_HEAD = ("", "TPS", "p50 ms", "p99 ms", "syncs", "writes", "KiB written", "flushes")


def table(summary: dict[str, Any], report: Path) -> str:
    """Return the summary as a table of at most 80 columns, with the report's path as its last line."""
    rows: list[tuple[str, ...]] = [_HEAD, _whole(summary)]
    for op, latency in summary["latency_us"].items():
        cost = summary["per_transaction"][op]
        rows.append(
            (
                op,
                number(summary["tps"][op], 1),
                number(latency["p50"], 3, 1e-3),
                number(latency["p99"], 3, 1e-3),
                number(summary["syncs"][op], 2),
                number(cost["block_writes"], 2),
                number(cost["bytes_written"], 1, 1 / 1024),
                number(cost["flushes"], 2),
            )
        )
    lines = _aligned(rows)
    status = f"{summary['cell_name']}  {summary['run_id'] or '(no run id)'}  {summary['status'].upper()}"
    out = [status, *(f"  rejected: {reason}" for reason in summary["reasons"])]
    out += ["", *([] if summary["raw_held"] else [f"  {NOT_HELD}"])]
    out += lines
    if summary["ledger"]:
        out += [
            "",
            *_labels(summary["ledger"], totals.transactions(summary)),
            *coverage.lines(summary["content"]),
            "",
        ]
    out += persistent(summary)
    if any(cost["block_writes"] is not None for cost in summary["per_transaction"].values()):
        out += textwrap.wrap(_PER_TRANSACTION, 80, subsequent_indent=" ")
    else:
        out += ["", "nothing was watched: syncs, writes, KiB and flushes are not known"]
    out += crash(summary["crash"], paced := summary.get("pace"))
    out += pace(paced)
    out += unchanged(summary) + beside(summary)
    if summary["write_amplification"] is not None:
        out.append(f"write amplification {number(summary['write_amplification'], 2)} of the SQL data")
    out += flash(summary.get("flash"))
    out += [
        speed(summary),
        *emulation(summary),
        *watching(summary),
        *refused(summary),
        f"report: {report}",
    ]
    return "\n".join(out)


def beside(summary: dict[str, Any]) -> list[str]:
    """Return, for a partition, the flushes by origin and the bytes that others wrote to the disk."""
    disk = summary["disk"]
    if disk is None:
        return []
    of, foreign = disk["flushes"], disk["foreign_bytes_written"]
    lines = [] if foreign is None else [f"others wrote {foreign / 1024:.0f} KiB to the disk meanwhile"]
    if of:
        lines.append(
            f"of its {sum(of.values())} flushes {of['own']} were for the partition alone, {of['shared']} for "
            f"others, too, and {of['others']} for others alone"
        )
    return textwrap.wrap("; ".join(lines), 80, subsequent_indent="  ")


def persistent(summary: dict[str, Any]) -> list[str]:
    """Return a table of writes to persistent memory by operation."""
    memory = summary.get("persistent")
    if not memory or not memory["per_transaction"]:
        return []
    cost = memory["per_transaction"]
    rows: list[tuple[str, ...]] = [(memory["label"], *cost, "all")]
    for name, text, factor, unit in (("bytes", "KiB", 1 / 1024, 1 / 1024), ("lines", "lines", 1.0, 1.0)):
        each = [number(row[name], 2, factor) for row in cost.values()]
        rows.append((f"{text} per transaction", *each, number(memory[name], 0, unit)))
    charged = number(memory["ns"], 3, 1e-6)
    return [*_aligned(rows), f"no block command wrote these; {charged} ms were charged for the lines", ""]


def unchanged(summary: dict[str, Any]) -> list[str]:
    """Say how many transactions had nothing to write: per transaction is over them, too."""
    each = [f"{number:,} of {op}" for op, number in summary["unchanged"].items() if number]
    said = f"transactions that changed no row: {', '.join(each)}"
    return textwrap.wrap(said, 80, subsequent_indent="  ") if each else []


# what was lost, from the first acknowledgement that did not hold to the cut, with PACE and without
_SPAN, _WORK = "of the run", "of work"
# how a line begins that says that settings did not keep their promise; a terminal shows it in red
BROKEN = "PROMISE BROKEN"


def crash(found: dict[str, Any] | None, paced: dict[str, Any] | None = None) -> list[str]:
    """Say what came up after the cuts. paced: of a run with PACE."""
    if found is None:
        return []
    died = f"{found['died']} ended the board, " if found["died"] else ""
    unplaced = (
        f"; {found['unplaced']} more are of no cut of their boards, and left out" if found["unplaced"] else ""
    )
    lost, work, recovery = found["lost_acknowledged"], found["lost_ms"], found["recovery_ms"]
    said = (
        f"{found['cuts']} cuts ({found['failure']}): {died}{found['mounted']} mounted, "
        f"{found['opened']} opened, {found['corrupt']} corrupt, {found['not_a_prefix']} no prefix of the "
        f"transactions; {sectors(found)}"
        f"acknowledged ones lost by {lost['cuts']}, {number(lost['max'], 0)} at most, "
        f"{number(lost['mean'], 2)} a cut; {seconds(work['max'])} {_SPAN if paced else _WORK} at most, "
        f"{seconds(work['mean'])} a cut{f' (PACE={asked})' if (asked := paced and paced['asked']) else ''}; "
        f"recovery {number(recovery['median'], 1)} ms, "
        f"{number(recovery['max'], 1)} at most; {number(found['per_hour'], 0)} cuts an hour{unplaced}"
    )
    if met := found.get("recoveries"):
        each = ", ".join(f"{what!r} {count} times" for what, count in met.items())
        said += f"; the engine met {each}, and executed {found['replayed']} transactions again"
    promise = f"the settings promise: {found['promised']}"
    if found["broken"]:
        promise = f"{BROKEN} by {found['broken']} cuts: {found['promised']}; first {found['first_broken']}"
    return [
        "",
        *textwrap.wrap(said, 80, subsequent_indent="  "),
        *textwrap.wrap(promise, 80, subsequent_indent="  "),
    ]


def seconds(ms: float | None) -> str:
    """Return a time in s, or in ms below a second."""
    return f"{number(ms, 1)} ms" if ms is None or ms < 1000 else f"{number(ms, 2, 1e-3)} s"


def sectors(found: dict[str, Any]) -> str:
    """Return the number of crash trials with zero or stale sectors in files; "" if not checked."""
    if not found.get("zero") or not found.get("stale"):
        return ""
    zero, stale = found["zero"], found["stale"]
    return (
        f"zero sectors in files after {zero['cuts']}, {zero['max']} at most, stale ones after "
        f"{stale['cuts']}, {stale['max']} at most; "
    )


def colored(text: str) -> str:
    """Return the table with a broken promise in red."""
    return re.sub(rf"^{BROKEN}.*(\n  .*)*", "\033[31m\\g<0>\033[0m", text, flags=re.MULTILINE)


def _whole(summary: dict[str, Any]) -> tuple[str, ...]:
    """Return the first row of the table: all transactions, and all bytes written."""
    each = totals.per_transaction(summary)
    written = number(each["bytes_written"], 1, 1 / 1024), number(each["flushes"], 2)
    return ("all", number(summary["tps"]["all"], 1), "", "", "", number(each["writes"], 2), *written)


def pace(paced: dict[str, Any] | None) -> list[str]:
    """Describe the rates of a run with PACE."""
    if paced is None:
        return []
    busy = ", ".join(f"{op} {number(tps, 1)}" for op, tps in paced["busy_tps"].items())
    late = paced["late"]
    lines = (
        f"PACE={paced['asked']}: TPS is the rate of the starts; transactions per second of the time in "
        f"transactions: {busy}; {late} transaction{'s' * (late != 1)} started late, as the one before had "
        "not ended"
    )
    return textwrap.wrap(lines, 80, subsequent_indent="  ")


def flash(worn: dict[str, Any] | None) -> list[str]:
    """Describe the programs and erases of a flash device."""
    if not worn or not worn["host_bytes"]:
        return []
    merged = (
        f"; {worn['merges']:,} merges copied {worn['merge_programs']:,} pages "
        f"({number(worn['merge_bytes'], 0, 1 / 1024)} KiB)"
        if worn["merges"]
        else ""
    )
    lines = (
        f"device write amplification {number(worn['write_amplification'], 2)}: "
        f"{number(worn['programmed_bytes'], 0, 1 / 1024)} KiB programmed for "
        f"{number(worn['host_bytes'], 0, 1 / 1024)} KiB written, in {worn['programs']:,} programs and "
        f"{worn['erases']:,} erases{merged}"
    )
    return textwrap.wrap(lines, 80, subsequent_indent="  ")


def speed(summary: dict[str, Any]) -> str:
    """Return the duration of the timed region, on the board and on the host."""
    seconds, wall = number(summary["virtual_seconds"], 3), number(summary["timed_wall_seconds"], 1)
    ratio = number(summary["virtual_per_wall"], 2)
    return f"timed region {seconds} s on the board, {wall} s of wall time: {ratio} per second"


def emulation(summary: dict[str, Any]) -> list[str]:
    """Describe virtual time, and the CPU's share of a transaction's time."""
    lines = textwrap.wrap(cpu.sentence(summary) or "", 80, subsequent_indent="  ")
    if summary["cpu_share"] is None:
        return lines
    shares = ", ".join(f"{op} {number(value, 1, 100)} %" for op, value in summary["cpu_share"].items())
    return [*lines, "the CPU's share of a transaction's time, watched:", f"  {shares}"]


def refused(summary: dict[str, Any]) -> list[str]:
    """Return errors, checks that were impossible, and observers' notes."""
    failed = [f"{number} {what}" for what, number in summary["failures"].items() if number]
    lines = [f"ended with an error: {', '.join(failed)}"] if failed else []
    lines += [f"not checked: {what}" for what in summary["not_checked"]]
    return lines + [line for note in summary.get("notes", ()) for line in textwrap.wrap(note, 80)]


def watching(summary: dict[str, Any]) -> list[str]:
    """Return the source of the times, and the cost of observation."""
    source, cost = summary["timing_source"], summary["watching_cost"]
    if source == "twin":
        within = summary.get("watching_cost_interval")
        shares = [
            f"{op} {number(value, 2, 100)} %{between(within[op]) if within else ''}"
            for op, value in cost.items()
        ]
        lines = textwrap.wrap("  " + ", ".join(shares), 80, subsequent_indent="  ")
        if within:
            lines.append("  (in brackets 95 % by what changed within the two runs, not from run to run)")
        return [
            "times are the untraced twin's; watching cost, of TPS:",
            *lines,
            *_twin_commands(summary["twin_commands"]),
        ]
    return ["times include what watching cost"] if source == "traced" else []


def between(interval: list[float] | None) -> str:
    """Return an interval of a share, in percent."""
    if interval is None:
        return " (too few for an interval)"
    low, high = (number(end, 1, 100) for end in interval)
    return f" ({low} to {high})"


def _twin_commands(found: dict[str, Any] | None) -> list[str]:
    """Compare the device commands of the baseline with the run's."""
    if found is None:
        return []
    if found["same"]:
        return [f"the twin's device got the same {found['run']} commands in the same order"]
    return [
        f"the twin's device got {found['twin']} commands, the run's {found['run']}; "
        f"the first {found['first_difference']} are the same"
    ]


def _labels(ledger: dict[str, Any], count: int) -> list[str]:
    """Return a table of bytes written by label: per transaction (`count` of them), and by operation."""
    cost = ledger["per_transaction"]
    seen = [label for label, size in ledger["bytes"].items() if size or label == "unattributed"]
    operations = [op for op in cost if op != "all"]
    rows: list[tuple[str, ...]] = [("KiB written per transaction", "all", *operations, "all, MiB")]
    for label in seen:
        each = [_share(ledger["bytes"][label], count)]
        each += [number(cost[op][label], 2, 1 / 1024) for op in operations]
        rows.append((label, *each, number(ledger["bytes"][label], 3, 2**-20)))
    late = ledger["deferred"]
    for view, size in (("for_others", "by_transactions"), ("deferred", "bytes")) if late else ():
        if late[size]:
            each = [_share(late[size], count)]
            each += [number(late["per_transaction"][op][view], 2, 1 / 1024) for op in operations]
            rows.append((_VIEWS[view], *each, number(late[size], 3, 2**-20)))
    share = f"{ledger['unattributed_share']:.3%} of the bytes written are unattributed"
    unwritten = number(ledger["unwritten_bytes"], 0, 1 / 1024)
    # bytes moved by a garbage collector are among the reasons
    said = [f"{unwritten} KiB of SQLite's files are of pages that SQLite had not written"]
    causes = (textwrap.wrap(text, 80, subsequent_indent="  ") for text in attribution.sentences(ledger))
    return [
        *_aligned(rows),
        share,
        *(line for lines in causes for line in lines),
        *(said if ledger["unwritten_bytes"] else []),
        *_reads(ledger.get("reads")),
    ]


def _reads(reads: dict[str, Any] | None) -> list[str]:
    """Return what was read: in all by label and file, by operation, and for no transaction."""
    if reads is None:
        return []

    def listed(sizes: dict[str, float]) -> str:
        return ", ".join(f"{name} {number(size, 1, 1 / 1024)}" for name, size in sizes.items())

    text = f"KiB read: {number(reads['bytes'], 1, 1 / 1024)} ({listed(reads['labels'])})"
    text += f"; of files: {listed(reads['files'])}" if reads["files"] else ""
    text += f"; per transaction: {listed(reads['per_transaction'])}"
    text += f"; for no transaction: {listed(reads['no_transaction'])}" if reads["no_transaction"] else ""
    text += f"; read ahead, not waited for: {number(reads['ahead_bytes'], 1, 1 / 1024)}"
    return textwrap.wrap(text, 80, subsequent_indent="  ")


def _share(size: float, count: int) -> str:
    return number(size / count if count else None, 2, 1 / 1024)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows as lines: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = (
        f"{row[0]:<{widths[0]}}  "
        + "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )
    return [line.rstrip() for line in lines]


def number(value: float | None, digits: int, factor: float = 1.0) -> str:
    return "-" if value is None else f"{value * factor:,.{digits}f}"
