"""Compare each requested setting with the one read back, and with the engine's file calls and own counters.

The hooks for calls and counters are in model/engines/.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.adapters.driver import Driver
from analysis.instrument import cpu
from analysis.run import Run
from analysis.run_files import databases
from model import engines, filesystems
from model.requested import expected, mkfs
from model.requested.expected import Expected, word


@dataclass(frozen=True)
class Setting:
    """One setting: the requested value and the effective one (None: it could not be read back)."""

    group: str  # the engine, filesystem, device, board
    name: str
    requested: str
    effective: str | None

    @property
    def equal(self) -> bool:
        return self.effective is not None and self.requested == self.effective


def not_read_back(run: Run) -> dict[str, Any]:
    """Return the requested settings that the engine cannot report."""
    config, names = run.driver.config, run.driver.engine.NOT_READ_BACK
    return {name: value for name, value in config.get("requested", {}).items() if name in names}


def compare(run: Run) -> list[Setting]:
    """Return every requested setting with its effective value."""
    planned = run.expected
    settings = [
        Setting(setting.group, setting.name, setting.requested, _effective(run, setting))
        for setting in planned
    ]
    return settings + _passed_to_driver(run, planned)


def equal(run: Run) -> list[str]:
    """Check that every requested setting is in effect."""
    reasons, unread = [], not_read_back(run)
    for setting in compare(run):
        of_engine = setting.group == run.driver.engine.TITLE
        if of_engine and setting.name in unread and setting.requested == word(unread[setting.name]):
            continue
        if setting.effective is None:
            what = f"requested {setting.requested!r}, could not be read back"
            reasons.append(f"{setting.group} {setting.name}: {what}")
        elif not setting.equal:
            what = f"requested {setting.requested!r}, in effect {setting.effective!r}"
            reasons.append(f"{setting.group} {setting.name}: {what}")
    return reasons


def _effective(run: Run, setting: Expected) -> str | None:
    """Return the effective value of a setting, None if it could not be read back."""
    config, had = run.driver.config, None
    if setting.group == expected.WORKLOAD:
        if setting.name == "phases":
            return ",".join(run.driver.planned)
        had = config.get("driver", {}).get(setting.name)
    elif setting.group == expected.FILESYSTEM:
        return _of_filesystem(run, setting)
    elif setting.group == expected.DEVICE:
        had = {**run.board.queue, **run.board.device}.get(setting.name)
    elif (setting.group, setting.name) == (expected.BOARD, "kernel"):
        return _release(run, setting.requested)
    elif (setting.group, setting.name) == (expected.BOARD, "uname"):
        had = _uname(run)
    elif (setting.group, setting.name) == (expected.BOARD, "cpu_ns"):
        had = cpu.effective(config["clock"])
    elif setting.group == expected.BOARD:
        had = run.board.run.get(setting.name)
    elif setting.group == expected.ENGINE:
        had = engines.name_in(config)
    elif setting.group == run.driver.engine.TITLE:
        name = engines.name_in(config)
        had = config[name].get("version") if setting.name == "version" else _in_all(config, setting.name)
    return None if had is None else word(had)


def _in_all(config: Mapping[str, Any], name: str) -> Any:
    """Return the effective value; if it differs among several databases, the value in each."""
    had = config["effective"].get(name)
    each = [entry["effective"].get(name) for entry in config.get("databases", [])]
    if all(value == had for value in each):
        return had
    return ", ".join(
        f"{'nothing' if value is None else word(value)} in database {i}" for i, value in enumerate(each, 1)
    )


def _of_filesystem(run: Run, setting: Expected) -> str | None:
    mount = run.board.mount
    if setting.name == "type":
        return mount.fs if mount else None
    if setting.name == "data mode":
        return run.board.data_mode
    if setting.name.startswith("mkfs "):
        of_type = (expected.FILESYSTEM, "type")
        kinds = [each.requested for each in run.expected if (each.group, each.name) == of_type]
        if not kinds or kinds[0] not in filesystems.names():
            return None
        return mkfs.effective(
            kinds[0], setting.name.removeprefix("mkfs "), setting.requested, run.board.superblock
        )
    if not mount:
        return None
    filesystem = run.board.filesystem
    hidden = filesystem.hidden if filesystem else {}
    return setting.requested if _in_effect(setting.requested, mount.options, hidden) else "not in effect"


def _uname(run: Run) -> str | None:
    """Return the kernel's release: the third word of `uname -a`."""
    words = run.board.texts.get("kernel", "").split()
    return words[2] if len(words) > 2 else None


def _release(run: Run, requested: str) -> str | None:
    """Return the kernel's release, with as many numbers as were requested."""
    release = _uname(run)
    return ".".join(re.split("[^0-9]", release)[: requested.count(".") + 1]) if release else None


def _in_effect(option: str, shown: tuple[str, ...], hidden: Mapping[str, str]) -> bool:
    against = hidden.get(option)
    return option in shown or (against is not None and not any(other.startswith(against) for other in shown))


def _passed_to_driver(run: Run, planned: list[Expected]) -> list[Setting]:
    """Return the settings passed to the driver that are not in the plan or differ from it."""
    config, title = run.driver.config, run.driver.engine.TITLE
    wanted: dict[str, Any] = {
        setting.name: setting.requested for setting in planned if setting.group == title
    }
    settings = []
    for name, value in sorted(config.get("requested", {}).items()):
        had = _in_all(config, name)
        if name not in wanted:
            settings.append(Setting(title, name, word(value), None if had is None else word(had)))
        elif wanted[name] != word(value):
            settings.append(Setting(title, f"{name}, as passed to the driver", wanted[name], word(value)))
    return settings


def as_set(run: Run) -> list[str]:
    """Check that the engine's file calls are those of its effective settings."""
    made = run.ledger
    if made is None or not made.given.calls:
        return []
    engine, driver = run.driver.engine, run.driver
    return [
        f"{database.title}{wrong}"
        for database in databases.split(driver.config, driver.transactions.height)
        for wrong in engine.contradicted(
            engine.in_effect(database.config), databases.calls_of(made.vfs, database.number)
        )
    ]


def as_counted(run: Run) -> list[str]:
    """Check the engine's counters against each other, its calls, and the bytes that reached the device.

    The baseline run is checked too, without its calls, which are not logged.
    """
    baseline = _miscounted(run, run.twin.driver if run.twin else None)
    return _miscounted(run, run.driver) + [f"the baseline run: {reason}" for reason in baseline]


def _miscounted(run: Run, driver: Driver | None) -> list[str]:
    if driver is None:
        return []
    engine, title, calls = driver.engine, driver.engine.TITLE, driver.vfs
    wrong = databases.unsummed(driver.config, engine.PROPERTIES, engine.COUNTED)
    for database in databases.split(driver.config, driver.transactions.height):
        logged = None if calls is None else databases.calls_of(calls, database.number)
        wrong += [
            f"{database.title}{reason}" for reason in engine.miscounted(database.config, database.ran, logged)
        ]
    if wrong:
        return [f"counters of {title}: {reason}" for reason in wrong]
    packed = run.board.mount is not None and any("compress" in option for option in run.board.mount.options)
    least, written = (
        driver.engine.least_written(driver.config),
        driver.stat_difference()["write_sectors"] * 512,
    )
    if packed or written >= least:
        return []
    return [f"counters of {title}: at least {least} bytes written, but the device got {written}"]
