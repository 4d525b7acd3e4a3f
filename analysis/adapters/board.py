"""raw/board/ and raw/run.json: what the board was and how the run went.

Nothing here raises for a value that is missing: it becomes a line of `problems`, which rejects
the run. Only a file that is not what it should be raises BadInput.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from analysis.files import read_json, read_pairs, read_text

_DATA_MODES = {
    "journal_data": "journal",
    "journal_data_ordered": "ordered",
    "journal_data_writeback": "writeback",
}


@dataclass(frozen=True)
class Mount:
    """One line of /proc/mounts."""

    device: str
    point: str
    fs: str
    options: tuple[str, ...]


@dataclass
class Board:
    """What could be read of the board; `problems` says what could not."""

    run: dict[str, Any] = field(default_factory=dict)
    mount: Mount | None = None
    superblock: dict[str, str] = field(default_factory=dict)
    queue: dict[str, str] = field(default_factory=dict)
    device: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)  # kernel, cmdline, cpuinfo, meminfo
    versions: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    dmesg: list[str] | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def data_mode(self) -> str | None:
        """The data mode of ext4, None for other filesystems or if it cannot be told.

        /proc/mounts shows it unless it is the one the superblock's default mount options
        name, or, when they name none, `ordered`.
        """
        if self.mount is None or self.mount.fs != "ext4":
            return None
        for option in self.mount.options:
            if option.startswith("data="):
                return option.removeprefix("data=")
        defaults = self.superblock.get("Default mount options")
        if defaults is None or "has_journal" not in self.superblock.get("Filesystem features", ""):
            return None
        named = [_DATA_MODES[name] for name in defaults.split() if name in _DATA_MODES]
        return named[0] if named else "ordered"


def read(raw: Path, database: str) -> Board:
    """Read what `raw` says of the board; `database` is the path of the database there."""
    board, folder = Board(), raw / "board"
    present: dict[str, Path] = {}
    pairs, texts = ("queue", "device"), ("kernel", "cmdline", "cpuinfo", "meminfo")
    names = ["mounts", "superblock.txt", "versions.txt", "files.txt"]
    for name in [*names, *(f"{name}.txt" for name in (*pairs, *texts))]:
        if (folder / name).is_file() and (folder / name).stat().st_size:
            present[name.removesuffix(".txt")] = folder / name
        else:
            board.problems.append(f"raw/board/{name} is missing or empty")
    if (raw / "run.json").is_file():
        board.run = read_json(raw / "run.json")
    else:
        board.problems.append("raw/run.json is missing")
    for name in pairs:
        if name in present:
            setattr(board, name, read_pairs(present[name]))
    for name in texts:
        if name in present:
            board.texts[name] = read_text(present[name]).strip()
    if "superblock" in present:
        board.superblock = parse_superblock(read_text(present["superblock"]))
    if "versions" in present:
        lines = read_text(present["versions"]).splitlines()
        board.versions = {name: version for name, _, version in (x.partition(" ") for x in lines)}
    if "files" in present:
        board.files = read_text(present["files"]).splitlines()
    if "mounts" in present:
        board.mount = find_mount(read_text(present["mounts"]), database)
        if board.mount is None:
            board.problems.append(f"raw/board/mounts has no mount that holds {database}")
    if (raw / "dmesg.txt").is_file():
        board.dmesg = read_text(raw / "dmesg.txt").splitlines()
    else:
        board.problems.append("raw/dmesg.txt is missing")
    return board


def find_mount(text: str, path: str) -> Mount | None:
    """Return the mount of /proc/mounts that holds `path`: the deepest, and of those the last."""
    best: Mount | None = None
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    for line in text.splitlines():
        fields = [_unescape(part) for part in line.split(" ")]
        if len(fields) < 4 or fields[1] not in parents or fields[1] == "/":
            continue
        if best is None or len(fields[1]) >= len(best.point):
            best = Mount(fields[0], fields[1], fields[2], tuple(fields[3].split(",")))
    return best


def _unescape(text: str) -> str:
    """Undo the octal escapes of /proc/mounts."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), text)


def parse_superblock(text: str) -> dict[str, str]:
    """Return the fields that dumpe2fs -h (`name: value`) or dump.f2fs (`name [0x.. : n]`) print."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        line = line.removeprefix("Info: ")
        found = re.match(r"^([A-Za-z_][\w #/().-]*?)(?::\s+|\s+=\s+|\s+\[)(.*?)\]?\s*$", line)
        if found:
            fields[found.group(1)] = found.group(2)
    return fields
