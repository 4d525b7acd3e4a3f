"""List the settings that a cell requests and a run must read back, and the steps that its run must take."""

from dataclasses import dataclass
from typing import Any

from base import identity
from base.data import load_yaml
from base.paths import EXPERIMENTS
from model import devices, engines, pace, workloads
from model.cell import Cell, Profile
from model.crash_points.policies import FAULT, PROCESS
from model.requested import mkfs

# Axes that the driver reads back under the same name, in addition to the engine's settings.
AXES = (
    *("checkpoint_every", "rows", "n", "value_size", "seed", "cache"),
    *("request_distribution", "insert_order", "value_size_distribution", "batch"),
)


def word(value: Any) -> str:
    """Return a value as it is compared and shown: lower case, booleans as on and off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value).strip().lower()


def probes(cell: Cell) -> list[str]:
    """Return a cell's probes; empty with `none`."""
    names = [name.strip() for name in cell.probes.split(",")]
    return [name for name in names if name not in ("", "none")]


# The steps of a run in order (playbooks/board/run-cell.sh).
_STEPS = ("watch", "set-timing", "settle", "{load}", "stop-watching", "record-board")
# The further step of boards of trials, and the steps if the driver is killed, or the device has a fault
# (docs/explanation/durability.md).
TRIALS = "trials"
_KILLS = ("watch", "settle", "kills", "stop-watching")
_FAULTS = ("watch", "set-timing", "settle", "fault", "stop-watching")

# Mount options that are always in effect, or have no effect.
_ALWAYS = {"", "defaults", "rw", "async"}
ENGINE = "engine"
FILESYSTEM = "filesystem"
DEVICE = "device"
BOARD = "board"
WORKLOAD = "workload"
# the board that commitpath makes and the clock that counts its instructions (experiments/schema.yml)
VIRTUAL = "virtual"


@dataclass(frozen=True)
class Expected:
    """One requested setting. group: an engine's title, or one of the words above."""

    group: str
    name: str
    requested: str


def steps(cell: Cell, trials: bool = False) -> dict[str, str]:
    """Return step → `ok`, its planned end, in order; trials: of a board of trials."""
    names: tuple[str, ...] = _STEPS
    if trials:
        names = {PROCESS: _KILLS, FAULT: _FAULTS}.get(cell.crash, (*_STEPS, TRIALS))
    return {step.format(load=cell.load): "ok" for step in names}


def settings(cell: Cell) -> list[Expected]:
    """Return every setting that a cell requests."""
    driver = cell.load == identity.DRIVER
    return [*(_engine(cell) if driver else []), *_filesystem(cell), *_device(cell), *_board(cell)]


def _profile(cell: Cell, name: str) -> Profile:
    return cell.profiles.get(name, {})


def _engine(cell: Cell) -> list[Expected]:
    name, workload = cell.engine, _profile(cell, "workload")
    engine = engines.by_name(name)
    expected = [Expected(WORKLOAD, axis, word(cell.value(axis))) for axis in AXES if cell.has(axis)]
    if cell.has("pace"):
        expected.append(Expected(WORKLOAD, "pace_ns", word(pace.interval_ns(cell.pace))))
    if (ran := workload.get("driver_workload")) is not None:
        expected.append(Expected(WORKLOAD, "workload", word(ran)))
    if mix := workloads.mix_option(workload):
        expected.append(Expected(WORKLOAD, "mix", mix))
    if (phases := workload.get("phases")) is not None:
        expected.append(Expected(WORKLOAD, "phases", ",".join(phases)))
    expected.append(Expected(ENGINE, "name", name))
    if (release := engine.release(cell)) is not None:
        expected.append(Expected(engine.TITLE, "version", word(release)))
    return expected + [
        Expected(engine.TITLE, key, word(value)) for key, value in engine.requested(cell).items()
    ]


def _filesystem(cell: Cell) -> list[Expected]:
    fs, expected = _profile(cell, "fs"), []
    if (kind := fs.get("type")) is not None:
        expected.append(Expected(FILESYSTEM, "type", word(kind)))
        made = " ".join([*map(str, fs.get("mkfs", [])), str(cell.mkfs_options or "")])
        expected += [
            Expected(FILESYSTEM, f"mkfs {name}", value)
            for name, value in mkfs.requested(str(kind), made).items()
        ]
    options = [*map(str, fs.get("mount", [])), *str(cell.mount_options or "").split(",")]
    for option in options:
        if option.startswith("data="):
            expected.append(Expected(FILESYSTEM, "data mode", option.removeprefix("data=")))
        elif option not in _ALWAYS:
            expected.append(Expected(FILESYSTEM, f"option {option}", option))
    return expected


def _device(cell: Cell) -> list[Expected]:
    device, driver = _profile(cell, "device"), devices.device_of(cell)
    requested = {**device.get("geometry", {}), **device.get("timing", {})}
    if driver is not None and "size_mib" in device:
        requested |= driver.size(device["size_mib"])
    return [Expected(DEVICE, name, word(value)) for name, value in sorted(requested.items())]


def _board(cell: Cell) -> list[Expected]:
    expected = [Expected(BOARD, "clock", cell.clock)]
    if cell.clock == VIRTUAL:
        expected.append(Expected(BOARD, "cpu_ns", word(cell.cpu_ns)))
    if cell.board == VIRTUAL:
        expected += _kernel(cell)
    return expected


def _kernel(cell: Cell) -> list[Expected]:
    """Return a virtual board's kernel: the beginning of its release or, for a user's kernel, all of it.

    The profile is in the cell, except for the default one. Empty: another lab's or an older default, which
    has no profile here.
    """
    profile = _profile(cell, "kernel")
    path = EXPERIMENTS / "kernel" / f"{cell.kernel}.yml"
    if not profile and path.is_file():
        profile = load_yaml(path)
    if "release" not in profile:
        return []
    return [Expected(BOARD, "kernel" if "suite" in profile else "uname", str(profile["release"]))]
