"""`make calibrate DEVICE=…`: fio on the raw device of the board, beside the profile's sources."""

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
from commitpath.boards.payload import payload
from commitpath.boards.prepared import again_if_damaged, ensure_snapshot, virtual_board
from commitpath.host import ansible
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
    """What the profile's sources say of a job of 4 KiB: IOPS by queue depth."""
    found = {}
    for source in profile["sources"]:
        name, _, depth = source["measure"].partition("_qd")
        if name == job:
            value = source["value"]
            per_second = {"us": 1e6 * int(depth) / value, "MB/s": value * 1e6 / BLOCK, "IOPS": value}
            found[int(depth)] = per_second[source["unit"]]
    return found


def figure(
    profile: Mapping[str, Any], results: Mapping[str, Mapping[str, float]], path: Path, title: str
) -> None:
    """Latency and IOPS of 4 KiB random reads and writes over the queue depth, and the sources' IOPS."""
    made = style.figure(3.0)
    latency, iops = made.subplots(1, 2)
    for job, (color, line) in LINES.items():
        label = job.removesuffix("_4k").replace("_", " ")
        got = [results[f"{job}_qd{depth}"] for depth in DEPTHS]
        latency.plot(DEPTHS, [one["us"] / 1000 for one in got], line, color=color, markersize=4)
        iops.plot(DEPTHS, [one["IOPS"] for one in got], line, color=color, markersize=4, label=label)
        points = source_iops(profile, job)
        if points:
            iops.plot(
                list(points),
                list(points.values()),
                "D",
                color=color,
                mfc="none",
                ms=9,
                clip_on=False,
                label=f"{label}, source",
            )
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
    made.suptitle(f"{title}: 4 KiB random", x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    iops.set_ylim(0, iops.get_ylim()[1])
    iops.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    iops.set_ylabel("IOPS")
    made.legend(loc="outside upper right", ncols=4)
    style.save(made, path)


def calibrate(cell: Cell) -> int:
    """Measure, print the table, store it with its raw numbers and figure."""
    profile = dict(cell.profiles["device"])
    entry = ansible.board("virtual")
    driver = programs.driver(cell)
    files = payload(cell)
    for name in ("calibrate.sh", "calibrate.fio"):
        files[name] = (ansible.PLAYBOOKS / "board" / name).read_bytes()
    files["run-cell.sh"] = (ansible.PLAYBOOKS / "board/calibrate-cell.sh").read_bytes()

    def run() -> RunOutput:
        saved = ensure_snapshot(cell, driver, entry)
        with step(f"run fio on the raw device {cell.device}"):
            return virtual_board(cell).run_cell(saved, files, default_limit())

    output = again_if_damaged(run)
    if output.failed:
        raise LabError(f"fio failed on the board: {output.text('run-cell.log').strip()}")
    raw = json.loads(output.text("raw/calibrate.json"))
    text = "\n".join(table(profile, raw))
    folder = keep(cell.device, profile, raw, text)
    print(text)
    print(f"kept in {folder}")
    return 0


def keep(name: str, profile: Mapping[str, Any], raw: Mapping[str, Any], text: str) -> Path:
    """Store the raw numbers of a device, its table and its figure in place of older ones; their folder."""
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
