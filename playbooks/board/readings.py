"""Read a board's state (CPU frequency, temperature, disk counters, mounts, …) from /proc, /sys and debugfs.

Runs on a board: Python 3.9, standard library. A value is text as the kernel has it; one that cannot be read
is {"unreadable": why}. docs/reference/formats.md has the names.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Value = str | dict[str, str]
    Values = dict[str, Value]

# Documentation/block/stat.rst; an older kernel has fewer
STAT = (
    *("read_ios", "read_merges", "read_sectors", "read_ticks"),
    *("write_ios", "write_merges", "write_sectors", "write_ticks"),
    *("in_flight", "io_ticks", "time_in_queue"),
    *("discard_ios", "discard_merges", "discard_sectors", "discard_ticks", "flush_ios", "flush_ticks"),
)
POLICY = ("scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_cur_freq")
# cooling devices that slow a CPU; others are fans
SLOWS = ("cpu", "thermal-cpu", "processor", "devfreq", "thermal-devfreq")


def unreadable(why: str) -> Value:
    """Return the value for something that cannot be read."""
    return {"unreadable": why}


class Board:
    """A board's files below ROOT, and its disk: the one of block device NUMBER, major:minor."""

    def __init__(self, root: Path, number: str) -> None:
        self.root, self.number = root, number
        self.partition = (root / "sys/dev/block" / number).resolve()
        whole = not (self.partition / "partition").exists()
        self.disk = root / "sys/class/block" / (self.partition if whole else self.partition.parent).name

    def text(self, path: Path | str) -> Value:
        """Return a file's text; path: on this machine, or below the board's root."""
        path = path if isinstance(path, Path) else self.root / path
        try:
            return path.read_text(errors="replace").strip()
        except OSError as error:
            return unreadable(f"{self.shown(path)}: {error.strerror}")

    def shown(self, path: Path) -> str:
        """Return a path as seen on the board."""
        return f"/{path.relative_to(self.root)}" if path.is_relative_to(self.root) else str(path)

    def found(self, what: str, folder: str, pattern: str) -> Iterator[tuple[str, Path]]:
        """Yield (name, path) of matching files in a folder of sysfs."""
        for path in sorted((self.root / folder).glob(pattern)):
            yield f"{what}/{path.name}", path

    def stat(self) -> Values:
        """Return the counters of the partition and its disk."""
        values: Values = {}
        for name, folder in (("partition", self.partition), ("disk", self.disk)):
            text = self.text(folder / "stat")
            if isinstance(text, dict):
                values[name] = text
            else:
                # Python 3.9's zip has no strict
                values.update((f"{name}/{field}", one) for field, one in zip(STAT, text.split()))
        return values

    def mounts(self) -> Value:
        """Return its mounts, and the other mounts on those: identity, number and place of each, in order."""
        text = self.text("proc/self/mountinfo")
        if isinstance(text, dict):
            return text
        lines = [line.split(" ") for line in text.splitlines()]
        ours = {line[4] for line in lines if line[2] == self.number}
        return "; ".join(" ".join((line[0], line[2], line[4])) for line in lines if line[4] in ours)

    def frequencies(self) -> Values:
        """Return governor, limits and frequency of each group of CPUs."""
        values = {
            f"{name}/{file}": self.text(policy / file)
            for name, policy in self.found("cpufreq", "sys/devices/system/cpu/cpufreq", "policy*")
            for file in POLICY
        }
        return values or {"cpufreq": unreadable("/sys/devices/system/cpu/cpufreq: it has no policy")}

    def throttled(self) -> Values:
        """Return counters of throttling, from any source."""
        values = {
            f"throttle/{path.parent.parent.name}/{path.name}": self.text(path)
            for _, path in self.found("", "sys/devices/system/cpu", "cpu*/thermal_throttle/*_count")
        }
        for name, device in self.found("throttle", "sys/class/thermal", "cooling_device*"):
            kind = self.text(device / "type")
            if not isinstance(kind, str) or kind.lower().startswith(SLOWS):
                values[f"{name}/cur_state"] = self.text(device / "cur_state")
                if (device / "stats/total_trans").exists():
                    values[f"{name}/total_trans"] = self.text(device / "stats/total_trans")
        firmware = list(self.root.glob("sys/devices/platform/soc/*firmware/get_throttled"))
        if firmware:
            values["throttle/get_throttled"] = self.text(firmware[0])
        elif self.root == Path("/") and shutil.which("vcgencmd"):
            done = subprocess.run(["vcgencmd", "get_throttled"], capture_output=True, text=True, check=False)
            answer = done.stdout.strip().rpartition("=")[2]
            values["throttle/get_throttled"] = answer or unreadable(
                f"vcgencmd get_throttled: {done.stderr.strip()}"
            )
        return values or {"throttle": unreadable("no counter of throttling, and no device that cools a CPU")}

    def temperatures(self) -> Values:
        """Return thousandths of a degree Celsius for each thermal zone and the disk."""
        zones = self.found("temperature", "sys/class/thermal", "thermal_zone*")
        values = {f"{name} {self.text(zone / 'type')}": self.text(zone / "temp") for name, zone in zones}
        for file in sorted(self.disk.glob("device/**/hwmon*/temp1_input")):
            values["temperature/disk"] = self.text(file)
        return values or {"temperature": unreadable("/sys/class/thermal: it has no thermal_zone")}

    def card(self) -> Values:
        """Return an eMMC's or SD card's errors and bus, as counted by its host; empty for other disks."""
        hosts = [folder.name for folder in self.disk.resolve().parents if folder.parent.name == "mmc_host"]
        values: Values = {}
        for host in hosts[:1]:
            for file in ("err_stats", "ios"):
                text = self.text(f"sys/kernel/debug/{host}/{file}")
                if isinstance(text, dict):
                    values[f"mmc/{file}"] = text
                    continue
                lines = (line.lstrip("# ").partition(":") for line in text.splitlines() if ":" in line)
                values.update((f"mmc/{file}/{name.strip()}", value.strip()) for name, _, value in lines)
        return values

    def pressure(self) -> Values:
        """Return µs that tasks waited for IO: any task, all at once, and those of other control groups."""
        text = self.text("proc/pressure/io")
        if isinstance(text, dict):
            return {"pressure": text}
        values: Values = {f"pressure/{kind}": total for kind, total in totals(text)}
        groups, own = self.root / "sys/fs/cgroup", self.text("proc/self/cgroup")
        if not isinstance(own, str) or not (groups / "cgroup.controllers").exists():
            return {**values, "pressure/others": unreadable("/sys/fs/cgroup: no control groups of version 2")}
        mine = Path(own.rpartition("0::/")[2])
        for depth in range(len(mine.parts)):
            here = groups.joinpath(*mine.parts[:depth])
            for file in sorted(here.glob("*/io.pressure")):
                if file.parent.name != mine.parts[depth]:
                    name = file.parent.relative_to(groups)
                    some = dict(totals(str(self.text(file)))).get("some")
                    values[f"pressure/others/{name}"] = some or unreadable(self.shown(file))
        return values


def totals(text: str) -> Iterator[tuple[str, str]]:
    """Yield (some or full, microseconds) of a pressure file."""
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        yield kind, rest.rpartition("total=")[2]
