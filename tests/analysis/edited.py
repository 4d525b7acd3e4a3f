"""Documents of a run that were changed by hand."""

import json
from pathlib import Path
from typing import Any


def edit(path: Path, **values: Any) -> None:
    """Give names of the JSON object in a file other values."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def unhold(folder: Path) -> Path:
    """Have a run stored without the hashes of its files, where it has a host.json; its folder."""
    host = folder / "host.json"
    if host.is_file():
        told = json.loads(host.read_text())
        host.write_text(json.dumps({name: value for name, value in told.items() if name != "raw_sha256"}))
    return folder


def edit_trial(folder: Path, trial: int, **values: Any) -> None:
    """Give fields of what a board said of a trial of the run in `folder` another value."""
    for path in folder.glob("crash/*/raw/trials.csv"):
        lines = [line.split(",") for line in path.read_text().splitlines()]
        for fields in lines[1:]:
            for name, value in values.items() if fields[0] == str(trial) else ():
                fields[lines[0].index(name)] = str(value)
        path.write_text("".join(",".join(fields) + "\n" for fields in lines))


def recoveries(folder: Path, *met: tuple[str, int]) -> None:
    """Have the boards tell of each trial what the engine met, and how many transactions it executed again:
    of trial 0 the first, and of all behind the last the last."""
    for path in folder.glob("crash/*/raw/trials.csv"):
        head, *lines = path.read_text().splitlines()
        told = [met[min(int(line.split(",")[0]), len(met) - 1)] for line in lines]
        rows = [
            f"{line.rsplit(',', 2)[0]},{what},{count}"
            for line, (what, count) in zip(lines, told, strict=True)
        ]
        path.write_text("\n".join([head, *rows, ""]))
