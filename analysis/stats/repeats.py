"""Compare repeated runs of one cell: median, spread, interval, and whether they are identical.

python -m analysis.stats.repeats RUN_DIR RUN_DIR… writes repeats.json and repeats.html.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.run_files import stored
from analysis.run_files.reading import read_json
from analysis.stats.spread import distinct, interval, outliers, spread, watching
from base.errors import BadInput
from base.text import printable_lines

# Files of a run and its baseline with virtual times: transactions, and the device log.
TIMED = re.compile(r"(twin/)?raw/(driver/transactions\.csv|device\.bin)")


def read_summaries(folders: list[Path]) -> list[dict[str, Any]]:
    """Return the summaries of runs of one cell and clock. Raises BadInput, also if a run is a copy.

    Each run must be analysed, unchanged, and in its original folder.
    """
    runs = [stored.read_named(folder) for folder in folders]
    summaries = [run.summary for run in runs]
    ids = [summary["run_id"] for summary in summaries]
    run_ids: dict[tuple[Any, ...], str] = {}
    for run, run_id in zip(runs, ids, strict=True):
        host = read_json(run.folder / "host.json")
        fingerprint = stored.fingerprint(run.cell.clock, host.get("raw_sha256"), host)
        if fingerprint and (other := run_ids.setdefault(fingerprint, run_id)) != run_id:
            raise BadInput(run.folder, "", f"it is a copy of the run {other}", "each run once")
    for folder, run_id in zip(folders, ids, strict=True):
        if ids.count(run_id) > 1:
            raise BadInput(folder, "", f"the run {run_id} is there twice", "each run once")
    for key in ("clock", "cell_id"):
        values = {str(summary.get(key)) for summary in summaries}
        if len(values) != 1:
            raise BadInput(folders[0], key, " and ".join(sorted(values)), f"runs of one {key} to compare")
    return summaries


def same_sequence(good: list[dict[str, Any]]) -> bool | None:
    """Return whether the runs issued the same block commands; None if too few, or one was not observed."""
    hashes = [summary["block_sequence_sha256"] for summary in good]
    return None if len(good) < 2 or None in hashes else len(set(hashes)) == 1


def odd_clocks(folders: list[Path], good: list[dict[str, Any]]) -> list[str] | None:
    """Return the accepted virtual-time runs that differ from the majority; None if unknown.

    Times are compared to the nanosecond. If no two runs are equal, all are returned. An emulator's clock may
    be late (docs/measurements/performance.md). Other seeds or boards also give other times.
    """
    ids = [summary["run_id"] for summary in good if summary["clock"] == "virtual"]
    times = {}
    for folder in folders:
        host = read_json(folder / "host.json")
        if host["run_id"] in ids and (hashes := host.get("raw_sha256")):
            times[host["run_id"]] = tuple(sorted(one for one in hashes.items() if TIMED.fullmatch(one[0])))
    if len(times) < max(len(ids), 2) or () in times.values():
        return None
    most, number = Counter(times.values()).most_common(1)[0]
    return [run_id for run_id in ids if number == 1 or times[run_id] != most]


def compare(folders: list[Path]) -> dict[str, Any]:
    """Return the content of repeats.json; rejected runs are listed, but excluded from the numbers."""
    summaries = read_summaries(folders)
    good = [summary for summary in summaries if summary["status"] == "ok"]
    tps = {}
    for op in good[0]["tps"] if good else ():
        values = [summary["tps"][op] for summary in good]
        if None not in values:
            tps[op] = {
                "median": statistics.median(values),
                "spread": spread(values),
                "interval": interval([summary["tps"][op] for summary in distinct(good)]),
            }
    return {
        "cell_name": summaries[0]["cell_name"],
        "clock": summaries[0]["clock"],
        "runs": [
            {key: summary[key] for key in ("run_id", "status", "reasons", "tps", "block_sequence_sha256")}
            for summary in summaries
        ],
        "tps": tps,
        "measurements": len(distinct(good)),
        "same_sequence": same_sequence(good),
        "odd_clocks": odd_clocks(folders, good),
        "outliers": outliers(good),
        "watching_cost": watching(good),
    }


def write(folders: list[Path]) -> Path:
    """Write repeats.json and repeats.html next to the runs, and return the page's path."""
    result = compare(folders)
    folder = folders[0].resolve().parent / f"repeats-{result['runs'][0]['run_id']}"
    folder.mkdir(exist_ok=True)
    (folder / "repeats.json").write_text(json.dumps(result, indent=2) + "\n")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("repeats.html.j2").render(
        result=result,
        sequence=sequence(result),
        clocks=clocks(result),
        measured=measured(result),
        outlying=outlying(result),
    )
    (folder / "repeats.html").write_text(page)
    return folder / "repeats.html"


def sequence(result: dict[str, Any]) -> str:
    """Describe `same_sequence`."""
    if result["same_sequence"] is not None:
        return "the same sequence" if result["same_sequence"] else "NOT the same sequence"
    good = sum(run["status"] == "ok" for run in result["runs"])
    return "not recorded" if good > 1 else "nothing to compare, fewer than two good runs"


def measured(result: dict[str, Any]) -> str:
    """Return the number of rejected runs and of distinct measurements."""
    rejected = sum(run["status"] != "ok" for run in result["runs"])
    number = result["measurements"]
    return f"{rejected} rejected, {number} distinct measurement{'s' * (number != 1)}"


def clocks(result: dict[str, Any]) -> str:
    """Describe `odd_clocks`; "" if unknown."""
    odd = result["odd_clocks"]
    if odd is None:
        return ""
    if not odd:
        return "the same to the nanosecond"
    return f"NOT the same to the nanosecond: {', '.join(odd)} (docs/measurements/performance.md)"


def outlying(result: dict[str, Any]) -> list[str]:
    """Describe `outliers`."""
    if not result["outliers"]:
        return []
    runs = ", ".join(f"{run} ({', '.join(ops)})" for run, ops in result["outliers"].items())
    return [f"far from the others, and in all numbers: {runs}"]


def table(result: dict[str, Any]) -> str:
    """Return the comparison as a table for the terminal."""
    lines = [f"{'':8}{'median TPS':>14}  {'spread':>9}  95 % interval of the mean"]
    for op, row in result["tps"].items():
        limits = "-" if row["interval"] is None else "{:.4f} to {:.4f}".format(*row["interval"])
        lines.append(f"{op:8}{row['median']:14.4f}  {row['spread']:9.1e}  {limits}")
    lines.append(f"{len(result['runs'])} runs, {measured(result)}; block commands: {sequence(result)}")
    if clock_line := clocks(result):
        lines.append(f"times: {clock_line}")
    lines += outlying(result)
    for op, row in (result["watching_cost"] or {}).items():
        ends = " to ".join(f"{100 * end:.2f}" for end in row["interval"] or ())
        within = f" ({ends})" if ends else ""
        lines.append(f"watching cost, % of TPS of {op}: {100 * row['mean']:.2f}{within}")
    return printable_lines(lines)


def main() -> int:
    """Compare the runs named on the command line."""
    try:
        folders = [Path(name) for name in sys.argv[1:]]
        if not folders:
            raise BadInput("python -m analysis.stats.repeats", "", "no run", "RUN_DIR RUN_DIR…")
        print(table(compare(folders)))
        print(f"report: {write(folders)}")
    except BadInput as error:
        print(f"analysis: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
