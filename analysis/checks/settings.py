"""Was what the cell requested also in effect?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis import engines, mkfs
from analysis.consistent import AXES, word
from analysis.run import Run

# Options that are in effect when /proc/mounts shows no option of this beginning.
_HIDDEN = {
    "barrier": "nobarrier",
    "barrier=1": "nobarrier",
    "delalloc": "nodelalloc",
    "commit=5": "commit=",
}
_ALWAYS = {"", "defaults", "rw", "async"}


@dataclass(frozen=True)
class Setting:
    """One setting: what was asked for and what was read back (None: it could not be read)."""

    group: str  # the engine, filesystem, device, run
    name: str
    requested: str
    effective: str | None

    @property
    def equal(self) -> bool:
        return self.effective is not None and self.requested == self.effective


def profile(run: Run, name: str) -> dict[str, Any]:
    """Return the content of the cell's profile of that axis, {} if it has none."""
    found: dict[str, Any] = run.cell["profiles"].get(name, {})
    return found


def compare(run: Run) -> list[Setting]:
    """Return every setting that was requested, beside what was in effect."""
    return [*_engine(run), *_filesystem(run), *_device(run), *_run(run)]


def equal(run: Run) -> list[str]:
    """Every setting that was requested is in effect."""
    found = []
    for setting in compare(run):
        if setting.effective is None:
            what = f"requested {setting.requested!r}, could not be read back"
            found.append(f"{setting.group} {setting.name}: {what}")
        elif not setting.equal:
            what = f"requested {setting.requested!r}, in effect {setting.effective!r}"
            found.append(f"{setting.group} {setting.name}: {what}")
    return found


def _engine(run: Run) -> list[Setting]:
    config, engine, name = run.driver.config, run.driver.engine, engines.name_in(run.driver.config)
    asked = {("driver", axis): run.cell[axis] for axis in AXES if axis in run.cell}
    if (workload := profile(run, "workload").get("driver_workload")) is not None:
        asked["driver", "workload"] = workload
    if (release := engine.release(run.cell)) is not None:
        asked[name, "version"] = release
    # what the driver says it was asked for counts too, should the cell not say it
    told = {**config["requested"], **engine.requested(run.cell)}
    asked |= {("effective", key): value for key, value in told.items()}
    found = []
    for (section, key), value in sorted(asked.items()):
        had = config[section].get(key)
        group = "workload" if section == "driver" else engine.TITLE
        found.append(Setting(group, key, word(value), None if had is None else word(had)))
    if (phases := profile(run, "workload").get("phases")) is not None:
        found.append(Setting("workload", "phases", ",".join(phases), ",".join(run.driver.planned)))
    for key, value in sorted(config["requested"].items()):
        wanted = word(asked["effective", key])
        if wanted != word(value):
            found.append(Setting(engine.TITLE, f"{key}, as the driver was told", wanted, word(value)))
    wanted = engines.name_in(run.cell)
    return [*found, Setting("engine", "name", wanted, name)] if wanted != name else found


def _filesystem(run: Run) -> list[Setting]:
    mount, fs = run.board.mount, profile(run, "fs")
    found = []
    if (kind := fs.get("type")) is not None:
        found.append(Setting("filesystem", "type", word(kind), mount.fs if mount else None))
        made = " ".join([*map(str, fs.get("mkfs", [])), str(run.cell.get("mkfs_options") or "")])
        for option, value, had in mkfs.compare(str(kind), made, run.board.superblock):
            found.append(Setting("filesystem", f"mkfs {option}", value, had))
    asked = [*fs.get("mount", []), *str(run.cell.get("mount_options") or "").split(",")]
    for option in map(str, asked):
        if option in _ALWAYS:
            continue
        if option.startswith("data="):
            mode = run.board.data_mode
            found.append(Setting("filesystem", "data mode", option[5:], mode))
            continue
        shown = option if mount and _in_effect(option, mount.options) else None
        if mount and shown is None:
            shown = "not in effect"
        found.append(Setting("filesystem", f"option {option}", option, shown))
    return found


def _in_effect(option: str, shown: tuple[str, ...]) -> bool:
    against = _HIDDEN.get(option)
    return option in shown or (against is not None and not any(other.startswith(against) for other in shown))


def _device(run: Run) -> list[Setting]:
    device = profile(run, "device")
    asked = {**device.get("geometry", {}), **device.get("timing", {})}
    if device.get("size_mib"):
        # null_blk counts its size in MiB, flashsim in sectors
        size = device["size_mib"]
        asked |= {"sectors": size * 2048} if device.get("driver") == "flash" else {"size": size}
    had = {**run.board.queue, **run.board.device}
    return [
        Setting("device", name, word(value), word(had[name]) if name in had else None)
        for name, value in sorted(asked.items())
    ]


def _run(run: Run) -> list[Setting]:
    if "clock" not in run.cell:
        return []
    had = run.board.run.get("clock")
    return [Setting("board", "clock", word(run.cell["clock"]), None if had is None else word(had))]
