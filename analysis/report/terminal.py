"""Format a run's summary as text for the terminal: rates, costs per transaction, crash trials, checks."""

import re
import textwrap
from pathlib import Path
from typing import Any

from analysis.content import coverage
from analysis.instrument import cpu
from analysis.ledger import sums
from analysis.report import headline
from analysis.run_files.stored_files import NOT_HELD
from analysis.stats import totals
from analysis.stats.totals import gb_a_day, years
from base.text import aligned

# the two views of deferred bytes (docs/reference/ledger.md)
_VIEWS = {"for_others": "of it deferred, others'", "deferred": "deferred, its own"}
_PER_TRANSACTION = (
    "(writes, KiB and flushes are per transaction: in the row and column `all` of everything, with the close "
    "and write-back; of an operation what its transactions waited for or caused)"
)
_HEAD = ("", "TPS", "p50 ms", "p99 ms", "max ms", "syncs", "writes", "KiB written", "flushes")


def table(summary: dict[str, Any], report: Path) -> str:
    """Return the summary as a table of at most 80 columns, with the report's path as its last line."""
    each = totals.per_transaction(summary)
    out = heading(summary)
    if limits := [line for text in headline.limits(summary) for line in wrapped(text)]:
        out += [*limits, ""]
    out += _aligned(
        [
            _HEAD,
            ("all", number(summary["tps"]["all"], 1), "", "", "", "", *_costs(each, "writes")),
            *(_operation(summary, op) for op in summary["latency_us"]),
        ]
    )
    if first := [line for text in headline.lines(summary) for line in wrapped(text)]:
        out += ["", *first]
    out += syncs(summary.get("sync_us"))
    if summary["ledger"]:
        out += ["", *_labels(summary["ledger"], totals.transactions(summary))]
        out += [*coverage.lines(summary["content"]), ""]
    out += persistent(summary)
    if any(cost["block_writes"] is not None for cost in summary["per_transaction"].values()):
        out += textwrap.wrap(_PER_TRANSACTION, 80, subsequent_indent=" ")
    else:
        out += ["", "nothing was watched: syncs, writes, KiB and flushes are not known"]
    out += mix(summary.get("mixed"))
    out += crash(summary["crash"], paced := summary.get("pace"))
    out += pace(paced) + _unchanged(summary) + _partition(summary["disk"])
    if summary["write_amplification"] is not None:
        out.append(f"write amplification {number(summary['write_amplification'], 2)} of the operations' data")
    out += memory(summary.get("memory"))
    out += [*flash(summary.get("flash")), _speed(summary), *_emulation(summary), *watching(summary)]
    return "\n".join([*out, *faults(summary), f"report: {report}"])


def heading(summary: dict[str, Any]) -> list[str]:
    """Return the lines that begin a summary: the run, its status, and the reasons for a rejection."""
    status = f"{summary['cell_name']}  {summary['run_id'] or '(no run id)'}  {summary['status'].upper()}"
    reasons = [f"  rejected: {reason}" for reason in summary["reasons"]]
    return [status, *reasons, "", *([] if summary["raw_held"] else [f"  {NOT_HELD}"])]


def wrapped(text: str) -> list[str]:
    """Return text as lines of at most 80 columns, all but the first indented."""
    return textwrap.wrap(text, 80, subsequent_indent="  ")


def _operation(summary: dict[str, Any], op: str) -> tuple[str, ...]:
    latency = [number(summary["latency_us"][op][name], 3, 1e-3) for name in ("p50", "p99", "max")]
    costs = _costs(summary["per_transaction"][op], "block_writes")
    return (op, number(summary["tps"][op], 1), *latency, number(summary["syncs"][op], 2), *costs)


def _costs(cost: dict[str, float | None], writes: str) -> tuple[str, ...]:
    size = number(cost["bytes_written"], 1, 1 / 1024)
    return number(cost[writes], 2), size, number(cost["flushes"], 2)


def syncs(times: dict[str, dict[str, float]] | None) -> list[str]:
    """Return a table of the latencies of syncs, by file."""
    if not times:
        return []
    head = ("fsync and fdatasync, watched", "syncs", "p50 ms", "p99 ms", "max ms")
    rows = [
        (name, number(row["count"], 0), *(number(row[key], 3, 1e-3) for key in ("p50", "p99", "max")))
        for name, row in by_file(times).items()
    ]
    return ["", *_aligned([head, *rows])]


def by_file(times: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the latencies of each file; with those of all files only if there are several."""
    return times if len(times) > 2 else {name: row for name, row in times.items() if name != "all"}


def _partition(disk: dict[str, Any] | None) -> list[str]:
    """Return, for a partition, the flushes by origin and the bytes that others wrote to the disk."""
    if disk is None:
        return []
    flushes, foreign = disk["flushes"], disk["foreign_bytes_written"]
    lines = [] if foreign is None else [f"others wrote {foreign / 1024:.0f} KiB to the disk meanwhile"]
    if flushes:
        lines.append(
            f"of its {sum(flushes.values())} flushes {flushes['own']} were for the partition alone, "
            f"{flushes['shared']} for others, too, and {flushes['others']} for others alone"
        )
    return wrapped("; ".join(lines))


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


def _unchanged(summary: dict[str, Any]) -> list[str]:
    """Return the number of transactions that had nothing to write, which averages include."""
    each = [f"{count:,} of {op}" for op, count in summary["unchanged"].items() if count]
    return wrapped(f"transactions that changed no row: {', '.join(each)}") if each else []


# of operations with the rate of a mixed phase
MIXED = "TPS is the part of each in the rate of a mixed phase; the speed of one is its latency"
# begin of the line that reports a broken promise; a terminal shows it in red
BROKEN = "PROMISE BROKEN"


def crash(results: dict[str, Any] | None, paced: dict[str, Any] | None = None) -> list[str]:
    """Return the results of the crash trials. paced: of a run with PACE."""
    if results is None:
        return []
    if faults := results.get("faults"):
        return ["", *_faults(faults), *wrapped(f"the settings promise: {results['promised']}")]
    died = f"{results['died']} ended the board, " if results["died"] else ""
    lost, work, recovery = results["lost_acknowledged"], results["lost_ms"], results["recovery_ms"]
    holes = f", {count} of them with a hole" if (count := results.get("holes")) else ""
    rate = f" (PACE={paced['asked']})" if paced and paced["asked"] else ""
    text = (
        f"{results['cuts']} cuts ({results['failure']}): {died}{results['mounted']} mounted, "
        f"{results['opened']} opened, {results['corrupt']} corrupt, {results['not_a_prefix']} no prefix of "
        f"the transactions{holes}; {_sectors(results)}"
        f"acknowledged ones lost by {lost['cuts']}, {number(lost['max'], 0)} at most, "
        f"{number(lost['mean'], 2)} a cut; {seconds(work['max'])} {'of the run' if paced else 'of work'} at "
        f"most, {seconds(work['mean'])} a cut{rate}; recovery {number(recovery['median'], 1)} ms, "
        f"{number(recovery['max'], 1)} at most; {number(results['per_hour'], 0)} cuts an hour"
    )
    if results["unplaced"]:
        text += f"; {results['unplaced']} more are of no cut of their boards, and left out"
    if recoveries := results.get("recoveries"):
        each = ", ".join(f"{name!r} {count} times" for name, count in recoveries.items())
        text += f"; the engine met {each}, and executed {results['replayed']} transactions again"
    promise = f"the settings promise: {results['promised']}"
    if results["broken"]:
        first = f"first {results['first_broken']}"
        promise = f"{BROKEN} by {results['broken']} cuts: {results['promised']}; {first}"
    return ["", *wrapped(text), *wrapped(promise)]


def _faults(faults: dict[str, dict[str, str]]) -> list[str]:
    """Return the outcome of each fault of the device."""
    lines = [f"{len(faults)} faults of the device, each with a power cut after it:"]
    for name, fault in faults.items():
        error = f"; {fault['error']}" if fault["error"] else ""
        text = f"{name} ({fault['command']}): {fault['outcome']}; the database is {fault['verdict']}{error}"
        lines += wrapped(text)
    return lines


def seconds(ms: float | None) -> str:
    """Return a time in s, or in ms below a second."""
    return f"{number(ms, 1)} ms" if ms is None or ms < 1000 else f"{number(ms, 2, 1e-3)} s"


def _sectors(results: dict[str, Any]) -> str:
    """Return the number of crash trials with zero or stale sectors in files; "" if not checked."""
    zero, stale = results.get("zero"), results.get("stale")
    if not zero or not stale:
        return ""
    return (
        f"zero sectors in files after {zero['cuts']}, {zero['max']} at most, stale ones after "
        f"{stale['cuts']}, {stale['max']} at most; "
    )


def colored(text: str) -> str:
    """Return the table with a broken promise in red."""
    return re.sub(rf"^{BROKEN}.*(\n  .*)*", "\033[31m\\g<0>\033[0m", text, flags=re.MULTILINE)


def pace(paced: dict[str, Any] | None) -> list[str]:
    """Describe the rates of a run with PACE."""
    if paced is None:
        return []
    busy = ", ".join(f"{op} {number(tps, 1)}" for op, tps in paced["busy_tps"].items())
    late = paced["late"]
    return wrapped(
        f"PACE={paced['asked']}: TPS is the rate of the starts; transactions per second of the time in "
        f"transactions: {busy}; {late} transaction{'s' * (late != 1)} started late, as the one before had "
        "not ended"
    )


def mix(shared: list[str] | None) -> list[str]:
    """Describe the rates of operations that share a phase."""
    return wrapped(f"{', '.join(shared)}: {MIXED}") if shared else []


def memory(read: dict[str, int] | None) -> list[str]:
    """Describe the memory of the driver's process at the end of the last phase."""
    if not read:
        return []
    sizes = ", ".join(f"{name} {number(size, 1, 2**-20)}" for name, size in read.items())
    return wrapped(f"memory of the driver and its engine, MiB: {sizes}")


def flash(worn: dict[str, Any] | None) -> list[str]:
    """Describe the programs and erases of a flash device."""
    if not worn or not worn["host_bytes"]:
        return []
    # "partial_merges" and "padding_bytes" are new
    partial, padding = (worn.get(name, 0) for name in ("partial_merges", "padding_bytes"))
    padded = f", {number(padding, 0, 1 / 1024)} KiB of it padding," if padding else ""
    merged = f"; {worn['merges']:,} merges{f' and {partial:,} partial ones' if partial else ''} copied "
    merged += f"{worn['merge_programs']:,} pages "
    merged += f"({number(worn['merge_bytes'], 0, 1 / 1024)} KiB)"
    collected = (
        f"; garbage collection copied {number(worn['gc_bytes'], 0, 1 / 1024)} KiB" if worn["gc_bytes"] else ""
    )
    # a device that maps units has no such blocks, and older runs did not count them
    spare = f"; {worn['free_blocks']:,} blocks free at the end" if worn.get("free_blocks") else ""
    return wrapped(
        f"device write amplification {number(worn['write_amplification'], 2)}: "
        f"{number(worn['programmed_bytes'], 0, 1 / 1024)} KiB programmed{padded} for "
        f"{number(worn['host_bytes'], 0, 1 / 1024)} KiB written, in {worn['programs']:,} programs and "
        f"{worn['erases']:,} erases{merged if worn['merges'] or partial else ''}{collected}{spare}"
    ) + wrapped(lasts(worn))


def lasts(worn: dict[str, Any]) -> str:
    """Return how long the flash lasts at one transaction a second; empty if its endurance is unknown."""
    if not (left := worn.get("lifetime")):
        return ""
    written, last = gb_a_day(left["host_bytes_per_transaction"], 1), years(left["transactions"], 1)
    return (
        f"one such transaction a second writes {written:.2f} GB a day and wears {left['gb']:,} GB of "
        f"{left['cycles']:,} cycles out in {last:.3g} years"
    )


def _speed(summary: dict[str, Any]) -> str:
    """Return the duration of the timed region, on the board and on the host."""
    seconds, wall = number(summary["virtual_seconds"], 3), number(summary["timed_wall_seconds"], 1)
    ratio = number(summary["virtual_per_wall"], 2)
    return f"timed region {seconds} s on the board in {wall} s of wall time, {ratio} s for each"


def _emulation(summary: dict[str, Any]) -> list[str]:
    """Describe virtual time, and the CPU's share of a transaction's time."""
    lines = wrapped(cpu.sentence(summary) or "")
    if summary["cpu_share"] is None:
        return lines
    shares = ", ".join(f"{op} {number(value, 1, 100)} %" for op, value in summary["cpu_share"].items())
    return [*lines, "the CPU's share of a transaction's time, watched:", f"  {shares}"]


def faults(summary: dict[str, Any]) -> list[str]:
    """Return errors, checks that were impossible, and observers' notes."""
    failed = [f"{count} {name}" for name, count in summary["failures"].items() if count]
    lines = [f"ended with an error: {', '.join(failed)}"] if failed else []
    lines += [f"not checked: {text}" for text in summary["not_checked"]]
    return lines + [line for note in summary.get("notes", ()) for line in textwrap.wrap(note, 80)]


def watching(summary: dict[str, Any]) -> list[str]:
    """Return the source of the times, and the cost of observation."""
    if summary["timing_source"] != "twin":
        return ["times include what watching cost"] if summary["timing_source"] == "traced" else []
    intervals = summary.get("watching_cost_interval")
    shares = [
        f"{op} {number(value, 2, 100)} %{between(intervals[op]) if intervals else ''}"
        for op, value in summary["watching_cost"].items()
    ]
    lines = textwrap.wrap("  " + ", ".join(shares), 80, subsequent_indent="  ")
    if intervals:
        lines.append("  (in brackets 95 % by what changed within the two runs, not from run to run)")
    lines += _twin_commands(summary["twin_commands"])
    return ["times are the baseline run's, which nobody watched; watching cost, of TPS:", *lines]


def between(interval: list[float] | None) -> str:
    """Return an interval of a share, in percent."""
    if interval is None:
        return " (too few for an interval)"
    low, high = (number(end, 1, 100) for end in interval)
    return f" ({low} to {high})"


def _twin_commands(commands: dict[str, Any] | None) -> list[str]:
    """Compare the device commands of the baseline with the run's."""
    if commands is None:
        return []
    if commands["same"]:
        return [f"the baseline run's device got the same {commands['run']} commands in the same order"]
    return [
        f"the baseline run's device got {commands['twin']} commands, the watched run's {commands['run']}; "
        f"the first {commands['first_difference']} are the same"
    ]


def _labels(ledger: dict[str, Any], count: int) -> list[str]:
    """Return a table of bytes written by label: per transaction (`count` of them), and by operation."""
    cost, late = ledger["per_transaction"], ledger["deferred"]
    operations = [op for op in cost if op != "all"]
    rows: list[tuple[str, ...]] = [("KiB written per transaction", "all", *operations, "all, MiB")]

    def add(name: str, size: float, by_operation: dict[str, Any], key: str) -> None:
        each = [number(by_operation[op][key], 2, 1 / 1024) for op in operations]
        mean = number(size / count if count else None, 2, 1 / 1024)
        rows.append((name, mean, *each, number(size, 3, 2**-20)))

    for label, size in ledger["bytes"].items():
        if size or label == "unattributed":
            add(label, size, cost, label)
    for view, total in (("for_others", "by_transactions"), ("deferred", "bytes")) if late else ():
        if late[total]:
            add(_VIEWS[view], late[total], late["per_transaction"], view)
    out = _aligned(rows)
    out.append(f"{ledger['unattributed_share']:.3%} of the bytes written are unattributed")
    out += [line for text in sums.sentences(ledger) for line in wrapped(text)]
    if unwritten := ledger["unwritten_bytes"]:
        # bytes moved by a garbage collector are among the reasons
        size = number(unwritten, 0, 1 / 1024)
        out.append(f"{size} KiB of SQLite's files are of pages that SQLite had not written")
    return out + _reads(ledger.get("reads"))


def _reads(reads: dict[str, Any] | None) -> list[str]:
    """Return the KiB read: in all by label and file, by operation, and for no transaction."""
    if reads is None:
        return []

    def listed(sizes: dict[str, float]) -> str:
        return ", ".join(f"{name} {number(size, 1, 1 / 1024)}" for name, size in sizes.items())

    text = f"KiB read: {number(reads['bytes'], 1, 1 / 1024)} ({listed(reads['labels'])})"
    text += f"; of files: {listed(reads['files'])}" if reads["files"] else ""
    text += f"; per transaction: {listed(reads['per_transaction'])}"
    if hits := reads.get("hits"):
        shares = ", ".join(f"{op} {number(share, 1, 100)} %" for op, share in hits.items())
        text += f"; transactions without a device read: {shares}"
    text += f"; for no transaction: {listed(reads['no_transaction'])}" if reads["no_transaction"] else ""
    text += f"; read ahead, not waited for: {number(reads['ahead_bytes'], 1, 1 / 1024)}"
    return wrapped(text)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows as lines: the first column left-aligned, the others right-aligned."""
    return aligned(rows, range(1, len(rows[0])))


def number(value: float | None, digits: int, factor: float = 1.0) -> str:
    """Return a number with thousands separators; None as a hyphen."""
    return "-" if value is None else f"{value * factor:,.{digits}f}"
