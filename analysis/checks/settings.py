"""Was what the cell requested also in effect?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.instrument import cpu
from analysis.run import Run
from model import engines, filesystems
from model.requested import expected, mkfs
from model.requested.expected import Expected
from model.requested.values import word


@dataclass(frozen=True)
class Setting:
    """One setting: what was requested and what was read back (None: it could not be read)."""

    group: str  # the engine, filesystem, device, board
    name: str
    requested: str
    effective: str | None

    @property
    def equal(self) -> bool:
        return self.effective is not None and self.requested == self.effective


def compare(run: Run) -> list[Setting]:
    """Return every setting that was requested, beside what was in effect."""
    planned = run.expected
    found = [Setting(one.group, one.name, one.requested, _effective(run, one)) for one in planned]
    return found + _told(run, planned)


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


def _effective(run: Run, one: Expected) -> str | None:
    """Return what was read back of a setting, None if it could not be."""
    config, had = run.driver.config, None
    if one.group == expected.WORKLOAD:
        if one.name == "phases":
            return ",".join(run.driver.planned)
        had = config.get("driver", {}).get(one.name)
    elif one.group == expected.FILESYSTEM:
        return _of_filesystem(run, one)
    elif one.group == expected.DEVICE:
        had = {**run.board.queue, **run.board.device}.get(one.name)
    elif (one.group, one.name) == (expected.BOARD, "kernel"):
        return _release(run, one.requested)
    elif (one.group, one.name) == (expected.BOARD, "uname"):
        had = _uname(run)
    elif (one.group, one.name) == (expected.BOARD, "cpu_ns"):
        had = cpu.effective(config["clock"])
    elif one.group == expected.BOARD:
        had = run.board.run.get(one.name)
    elif one.group == expected.ENGINE:
        had = engines.name_in(config)
    elif one.group == run.driver.engine.TITLE:
        name = engines.name_in(config)
        had = config[name].get("version") if one.name == "version" else _in_all(config, one.name)
    return None if had is None else word(had)


def _in_all(config: Mapping[str, Any], name: str) -> Any:
    """Return what was in effect; of several databases in which it was another, what in each."""
    had = config["effective"].get(name)
    each = [one["effective"].get(name) for one in config.get("databases", [])]
    if all(one == had for one in each):
        return had
    return ", ".join(
        f"{'nothing' if one is None else word(one)} in database {i}" for i, one in enumerate(each, 1)
    )


def _of_filesystem(run: Run, one: Expected) -> str | None:
    mount = run.board.mount
    if one.name == "type":
        return mount.fs if mount else None
    if one.name == "data mode":
        return run.board.data_mode
    if one.name.startswith("mkfs "):
        of_type = (expected.FILESYSTEM, "type")
        kinds = [each.requested for each in run.expected if (each.group, each.name) == of_type]
        if not kinds or kinds[0] not in filesystems.names():
            return None
        return mkfs.effective(kinds[0], one.name.removeprefix("mkfs "), one.requested, run.board.superblock)
    if not mount:
        return None
    known = run.board.filesystem
    hidden = known.hidden if known else {}
    return one.requested if _in_effect(one.requested, mount.options, hidden) else "not in effect"


def _uname(run: Run) -> str | None:
    """The kernel's release: the third word of `uname -a`."""
    words = run.board.texts.get("kernel", "").split()
    return words[2] if len(words) > 2 else None


def _release(run: Run, requested: str) -> str | None:
    """As much of the kernel's release as was requested of it."""
    release = _uname(run)
    return ".".join(re.split("[^0-9]", release)[: requested.count(".") + 1]) if release else None


def _in_effect(option: str, shown: tuple[str, ...], hidden: Mapping[str, str]) -> bool:
    against = hidden.get(option)
    return option in shown or (against is not None and not any(other.startswith(against) for other in shown))


def _told(run: Run, planned: list[Expected]) -> list[Setting]:
    """What the driver says it was told counts too: what the plan lacks, and what it has otherwise."""
    config, title = run.driver.config, run.driver.engine.TITLE
    wanted: dict[str, Any] = {one.name: one.requested for one in planned if one.group == title}
    found = []
    for name, value in sorted(config.get("requested", {}).items()):
        had = _in_all(config, name)
        if name not in wanted:
            found.append(Setting(title, name, word(value), None if had is None else word(had)))
        elif wanted[name] != word(value):
            found.append(Setting(title, f"{name}, as the driver was told", wanted[name], word(value)))
    return found
