"""`make calibrate DEVICE=…`: fio on the raw device of the board, beside the profile's sources."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

from commitpath import ansible
from commitpath.cell import ROOT
from commitpath.errors import LabError
from commitpath.experiment import RESULTS, RUN_LIMIT_SECONDS
from commitpath.payload import payload
from commitpath.prepared import ensure_snapshot, virtual_board
from commitpath.progress import step
from images import artifacts
from images.flash.calibrate import measure, table

matplotlib.use("svg")
from matplotlib import pyplot as plt


def figure(results: Mapping[str, Mapping[str, float]], path: Path, title: str) -> None:
    """Latency and IOPS of 4 KiB random reads and writes over the queue depth."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for name in ("read_random_4k", "write_random_4k"):
        points = {
            int(key.rsplit("qd", 1)[1]): got for key, got in results.items() if key.startswith(f"{name}_qd")
        }
        left.plot(list(points), [got["us"] for got in points.values()], "o-", label=name.replace("_", " "))
        right.plot(list(points), [got["IOPS"] for got in points.values()], "o-")
    for axes, what in ((left, "mean latency, µs"), (right, "IOPS")):
        axes.set(xscale="log", yscale="log", xlabel="queue depth", ylabel=what)
        axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
        axes.grid(alpha=0.3)
    left.legend(frameon=False)
    left.set_title(title, loc="left")
    plt.savefig(path)


def calibrate(cell: Mapping[str, Any]) -> int:
    """Measure, print the table, store it with its raw numbers and figure."""
    profile = cell["profiles"]["device"]
    entry = ansible.board("virtual")
    driver = artifacts.driver(cell["sqlite"], artifacts.image())
    files = payload(cell, entry["board_device"])
    for name in ("calibrate.sh", "calibrate.fio"):
        files[name] = (ROOT / "images/flash" / name).read_bytes()
    files["run-cell.sh"] = (ansible.PLAYBOOKS / "board/calibrate-cell.sh").read_bytes()
    saved = ensure_snapshot(cell, driver, entry)
    with step(f"run fio on the raw device {cell['device']}"):
        output = virtual_board(cell).run_cell(saved, files, RUN_LIMIT_SECONDS)
    if output.text("run-cell.status").strip() != "0":
        raise LabError(f"fio failed on the board: {output.text('run-cell.log').strip()}")
    raw = json.loads(output.text("raw/calibrate.json"))
    folder = RESULTS / f"calibrate-{cell['device']}"
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(table(profile, raw))
    (folder / "raw.json").write_text(json.dumps(raw, indent=1) + "\n")
    (folder / "table.txt").write_text(text + "\n")
    figure({name: measure(name, job) for name, job in raw.items()}, folder / "depth.svg", cell["device"])
    print(text)
    print(f"kept in {folder}")
    return 0
