"""Several runs of one cell: every run, median, spread and interval.

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

# Files of a run, and of its twin, that have the virtual clock's times: when each transaction was, and
# each command, where the device keeps a log.
TIMED = re.compile(r"(twin/)?raw/(driver/transactions\.csv|device\.bin)")


def read_summaries(folders: list[Path]) -> list[dict[str, Any]]:
    """The runs' summaries; BadInput where they are not runs of one cell on one clock, or one is a copy.

    Each is as its analysis left it, in the folder of its cell and run.
    """
    runs = [stored.read_named(folder) for folder in folders]
    summaries = [run.summary for run in runs]
    ids = [summary["run_id"] for summary in summaries]
    known: dict[tuple[Any, ...], str] = {}
    for run, run_id in zip(runs, ids, strict=True):
        host = read_json(run.folder / "host.json")
        found = stored.fingerprint(run.cell, host.get("raw_sha256"), host)
        if found and (other := known.setdefault(found, run_id)) != run_id:
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
    """Whether runs issued the same block commands; None if they are too few, or one was not watched."""
    hashes = [summary["block_sequence_sha256"] for summary in good]
    return None if len(good) < 2 or None in hashes else len(set(hashes)) == 1


def odd_clocks(folders: list[Path], good: list[dict[str, Any]]) -> list[str] | None:
    """The good runs in virtual time whose times are not, to the nanosecond, those of most; None: unknown.

    Where no two are the same that is all of them. An emulator's clock may be late
    (docs/measurements/performance.md); and
    runs of other seeds or other boards have times of their own.
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
    """What repeats.json holds; rejected runs are listed and left out of the numbers."""
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
    """Write repeats.json and repeats.html beside the runs; the page's path."""
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
    """What `same_sequence` says, in words."""
    if result["same_sequence"] is not None:
        return "the same sequence" if result["same_sequence"] else "NOT the same sequence"
    good = sum(run["status"] == "ok" for run in result["runs"])
    return "not recorded" if good > 1 else "nothing to compare, fewer than two good runs"


def measured(result: dict[str, Any]) -> str:
    """Return how many runs were rejected, and how many distinct measurements the others are."""
    rejected = sum(run["status"] != "ok" for run in result["runs"])
    number = result["measurements"]
    return f"{rejected} rejected, {number} distinct measurement{'s' * (number != 1)}"


def clocks(result: dict[str, Any]) -> str:
    """What `odd_clocks` says, in words; nothing where it is not known."""
    odd = result["odd_clocks"]
    if odd is None:
        return ""
    if not odd:
        return "the same to the nanosecond"
    return f"NOT the same to the nanosecond: {', '.join(odd)} (docs/measurements/performance.md)"


def outlying(result: dict[str, Any]) -> list[str]:
    """What `outliers` says, in words."""
    if not result["outliers"]:
        return []
    runs = ", ".join(f"{run} ({', '.join(ops)})" for run, ops in result["outliers"].items())
    return [f"far from the others, and in all numbers: {runs}"]


def table(result: dict[str, Any]) -> str:
    """The same for the terminal."""
    lines = [f"{'':8}{'median TPS':>14}  {'spread':>9}  95 % interval of the mean"]
    for op, row in result["tps"].items():
        limits = "-" if row["interval"] is None else "{:.4f} to {:.4f}".format(*row["interval"])
        lines.append(f"{op:8}{row['median']:14.4f}  {row['spread']:9.1e}  {limits}")
    lines.append(f"{len(result['runs'])} runs, {measured(result)}; block commands: {sequence(result)}")
    if said := clocks(result):
        lines.append(f"times: {said}")
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
