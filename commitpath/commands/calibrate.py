"""`make calibrate DEVICE=…`: run fio on a simulated device, compare with its published numbers, draw it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.ticker import LogLocator

from analysis.figures import style
from analysis.instrument.calibration import measure, table
from base import scratch
from base.errors import LabError
from base.paths import RESULTS
from base.progress import step
from commitpath.boards.payload import board_scripts, payload
from commitpath.boards.prepared import again_if_damaged, ensure_snapshot, virtual_board
from commitpath.host import ansible
from commitpath.run.curves import HOST_NS, source_notes
from commitpath.run.experiment import default_limit
from images import programs
from images.cellrun import RunOutput
from model.cell import Cell

BLOCK = 4096
DEPTHS = (1, 2, 4, 8, 16, 32)
# Dashes: reads under writes stay visible where both are as fast.
LINES = {
    "read_random_4k": (style.BLOCKS["read"], "o-"),
    "write_random_4k": (style.BLOCKS["write FUA"], "o--"),
}


def source_iops(profile: Mapping[str, Any], job: str) -> dict[int, float]:
    """Return the sources' IOPS of a job of 4 KiB, by queue depth."""
    iops = {}
    for source in profile["sources"]:
        name, _, depth = source["measure"].partition("_qd")
        if name == job:
            value = source["value"]
            per_second = {"us": 1e6 * int(depth) / value, "MB/s": value * 1e6 / BLOCK, "IOPS": value}
            iops[int(depth)] = per_second[source["unit"]]
    return iops


def figure(
    profile: Mapping[str, Any], results: Mapping[str, Mapping[str, float]], path: Path, title: str
) -> None:
    """Draw latency and IOPS of 4 KiB random reads and writes over the queue depth, with the sources' IOPS."""
    drawn = style.figure(3.0)
    latency, iops = drawn.subplots(1, 2)
    for job, (color, line) in LINES.items():
        label = job.removesuffix("_4k").replace("_", " ")
        measured = [results[f"{job}_qd{depth}"] for depth in DEPTHS]
        latency.plot(DEPTHS, [row["us"] / 1000 for row in measured], line, color=color, markersize=4)
        iops.plot(DEPTHS, [row["IOPS"] for row in measured], line, color=color, markersize=4, label=label)
        if points := source_iops(profile, job):
            look = {"color": color, "mfc": "none", "ms": 9, "clip_on": False}
            iops.plot(*zip(*points.items(), strict=True), "D", **look, label=f"{label}, source")
    for axes in (latency, iops):
        style.grid(axes, "y")
        axes.set_xscale("log", base=2)
        axes.set_xticks(DEPTHS, [str(depth) for depth in DEPTHS])
        axes.minorticks_off()
        axes.set_xlabel("queue depth")
    latency.set_yscale("log")
    latency.minorticks_off()
    latency.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    latency.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    latency.set_ylabel("mean latency, ms")
    drawn.suptitle(f"{title}: 4 KiB random", x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    iops.set_ylim(0, iops.get_ylim()[1])
    iops.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    iops.set_ylabel("IOPS")
    drawn.legend(loc="outside upper right", ncols=4)
    style.save(drawn, path)


def calibrate(cell: Cell) -> int:
    """Measure, print the table, store it with its raw numbers and figure."""
    profile = dict(cell.profiles["device"])
    entry = ansible.board("virtual")
    driver = programs.driver(cell)
    scripts = board_scripts(("calibrate.sh", "calibrate.fio", "calibrate-cell.sh"))
    run_cell = scripts.pop("calibrate-cell.sh")
    files = {**payload(cell), **scripts, "run-cell.sh": run_cell}

    def run() -> RunOutput:
        saved = ensure_snapshot(cell, driver, entry)
        with step(f"run fio on the raw device {cell.device}"):
            return virtual_board(cell).run_cell(saved, files, default_limit())

    output = again_if_damaged(run)
    if output.failed:
        raise LabError(f"fio failed on the board: {output.text('run-cell.log').strip()}")
    raw = json.loads(output.text("raw/calibrate.json"))
    # those of curves are compared on this host: CURVES=yes
    profile["sources"] = [source for source in profile["sources"] if "at" not in source]
    text = "\n".join([*source_notes(cell, HOST_NS), *table(profile, raw)])
    folder = keep(cell.device, profile, raw, text)
    print(text)
    print(f"kept in {folder}")
    return 0


def keep(name: str, profile: Mapping[str, Any], raw: Mapping[str, Any], text: str) -> Path:
    """Store a device's raw numbers, table and figure in place of older ones; return their folder."""
    folder = RESULTS / f"calibrate-{name}"
    with scratch.folder(RESULTS, ".calibrate") as part:
        (part / "raw.json").write_text(json.dumps(raw, indent=1) + "\n")
        (part / "table.txt").write_text(text + "\n")
        results = {job: measure(job, entry) for job, entry in raw.items()}
        figure(profile, results, part / "depth.svg", name)
        folder.mkdir(exist_ok=True)
        for file in ("raw.json", "table.txt", "depth.svg"):
            (part / file).replace(folder / file)
    return folder
