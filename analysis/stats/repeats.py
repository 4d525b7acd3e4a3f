"""Compare repeated runs of a cell (TPS, spread, interval, block commands, times); write repeats.json, .html.

The results are repeats.json, repeats.html and a table for the terminal.
"""

import json
import re
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.run_files import stored
from analysis.run_files.reading import read_json
from analysis.stats.spread import interval, outliers, spread, watching
from base.text import printable_lines
from model.cell import sample

# Keys of summary.json that are listed of each run.
OF_RUN = ("cell_name", "run_id", "status", "reasons", "tps", "block_sequence_sha256")
# Files of a run and its baseline with virtual times: transactions, and the device log.
TIMED = re.compile(r"(twin/)?raw/(driver/transactions\.csv|device\.bin)")


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
            times[host["run_id"]] = tuple(sorted(item for item in hashes.items() if TIMED.fullmatch(item[0])))
    if len(times) < max(len(ids), 2) or () in times.values():
        return None
    most, number = Counter(times.values()).most_common(1)[0]
    return [run_id for run_id in ids if number == 1 or times[run_id] != most]


def compare(folders: list[Path]) -> dict[str, Any]:
    """Return the content of repeats.json for runs of one cell, with its seeds and boards. Raises FileError.

    Rejected runs are listed, but excluded from the numbers.
    """
    runs = [stored.read(folder) for folder in folders]
    summaries = [run.summary for run in runs]
    samples = {run.summary["run_id"]: sample(run.cell, run.summary["run_id"]) for run in runs}
    good = [summary for summary in summaries if summary["status"] == "ok"]
    counted = {samples[summary["run_id"]]: summary for summary in good}
    tps = {}
    for op in good[0]["tps"] if good else ():
        values = [summary["tps"][op] for summary in good]
        if None not in values:
            tps[op] = {
                "median": statistics.median(values),
                "spread": spread(values),
                "interval": interval([each["tps"][op] for each in counted.values()], list(counted)),
            }
    hashes = [
        [summary["block_sequence_sha256"] for summary in good if summary["cell_id"] == cell]
        for cell in dict.fromkeys(summary["cell_id"] for summary in good)
    ]
    known = all(None not in each for each in hashes) and len(good) > len(hashes)
    return {
        "cell_name": summaries[0]["cell_name"],
        "clock": summaries[0]["clock"],
        "runs": [
            {name: run.summary[name] for name in OF_RUN}
            | {"seed": run.cell.seed, "board_number": run.cell.board_number}
            for run in runs
        ],
        "tps": tps,
        "samples": len(counted),
        "same_sequence": all(len(set(each)) == 1 for each in hashes) if known else None,
        "odd_clocks": odd_clocks(folders, good) if len(hashes) == 1 else None,
        "outliers": outliers(good),
        "watching_cost": watching(good),
    }


def write(folders: list[Path]) -> Path:
    """Write repeats.json and repeats.html next to the runs, and return the page's path."""
    result = compare(folders)
    folder = folders[0].resolve().parent / f"repeats-{result['runs'][0]['run_id']}"
    folder.mkdir(exist_ok=True)
    (folder / "repeats.json").write_text(json.dumps(result, indent=2) + "\n")
    folders_of_templates = [Path(__file__).parent, Path(__file__).parents[1]]
    environment = Environment(
        loader=FileSystemLoader(folders_of_templates), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("repeats.html.j2").render(result=result, **descriptions(result))
    (folder / "repeats.html").write_text(page)
    return folder / "repeats.html"


def descriptions(result: dict[str, Any]) -> dict[str, str]:
    """Describe the runs, their block commands, clocks and outliers; the last two may be empty."""
    good = sum(run["status"] == "ok" for run in result["runs"])
    cells = len({run["cell_name"] for run in result["runs"] if run["status"] == "ok"})
    number, odd, same = result["samples"], result["odd_clocks"], result["same_sequence"]
    if same is None:
        sequence = "not recorded" if good > cells else "nothing to compare, no good run was repeated"
    else:
        sequence = "the same sequence" if same else "NOT the same sequence"
    clocks = "" if odd is None else "the same to the nanosecond"
    if odd:
        clocks = f"NOT the same to the nanosecond: {', '.join(odd)} (docs/measurements/performance.md)"
    outliers = ", ".join(f"{run} ({', '.join(ops)})" for run, ops in (result["outliers"] or {}).items())
    return {
        "measured": f"{len(result['runs']) - good} rejected, {number} sample{'s' * (number != 1)}",
        "sequence": sequence,
        "clocks": clocks,
        "outlying": outliers and f"far from the others, and in all numbers: {outliers}",
    }


def table(result: dict[str, Any]) -> str:
    """Return the comparison as a table for the terminal."""
    lines = [f"{'':8}{'median TPS':>14}  {'spread':>9}  95 % interval of the mean"]
    for op, row in result["tps"].items():
        limits = "-" if row["interval"] is None else "{:.4f} to {:.4f}".format(*row["interval"])
        lines.append(f"{op:8}{row['median']:14.4f}  {row['spread']:9.1e}  {limits}")
    described = descriptions(result)
    measured, sequence = described["measured"], described["sequence"]
    lines.append(f"{len(result['runs'])} runs, {measured}; block commands: {sequence}")
    if described["clocks"]:
        lines.append(f"times: {described['clocks']}")
    if described["outlying"]:
        lines.append(described["outlying"])
    for op, row in (result["watching_cost"] or {}).items():
        ends = " to ".join(f"{100 * end:.2f}" for end in row["interval"] or ())
        within = f" ({ends})" if ends else ""
        lines.append(f"watching cost, % of TPS of {op}: {100 * row['mean']:.2f}{within}")
    return printable_lines(lines)
