"""Read a board's records in raw/ (mount, layout, device settings, kernel log, steps); list missing ones.

A missing file adds a line to `problems`, which rejects the run. An invalid file raises FileError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from analysis.adapters import covariates, layouts
from analysis.adapters.layouts import Layout
from analysis.run_files.reading import integer, read_document, read_pairs, read_text
from base.errors import FileError
from model import filesystems
from model.covariates import Covariates
from model.filesystems import Filesystem, UnknownFilesystemError

# a line of `dmesg --raw`: it begins with its level
_LOGGED = re.compile(r"<[0-9]{1,3}>.")


@dataclass(frozen=True)
class Mount:
    """One line of /proc/mounts."""

    device: str
    point: str
    fs: str
    options: tuple[str, ...]


@dataclass
class Board:
    """The values read from the board; `problems` lists what could not be read."""

    run: dict[str, Any] = field(default_factory=dict)
    mount: Mount | None = None
    layout: Layout | None = None
    superblock: dict[str, str] = field(default_factory=dict)
    queue: dict[str, str] = field(default_factory=dict)
    device: dict[str, str] = field(default_factory=dict)
    device_time: dict[str, str] = field(default_factory=dict)  # the device's counters
    modules: dict[str, dict[str, str]] = field(default_factory=dict)  # by kernel module of ours
    texts: dict[str, str] = field(default_factory=dict)  # kernel, cmdline, cpuinfo, meminfo
    covariates: Covariates | None = None  # None: a virtual board
    versions: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # inode → name, from files.txt
    heads: dict[int, bytes] = field(default_factory=dict)  # inode → first bytes, of a command's files
    dmesg: list[str] | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def filesystem(self) -> Filesystem | None:
        """The model of the filesystem under test; None if it is not supported."""
        try:
            return filesystems.by_name(self.mount.fs) if self.mount else None
        except UnknownFilesystemError:
            return None  # listed in `problems`

    @property
    def data_mode(self) -> str | None:
        """The filesystem's data mode; None if it has none or is unknown."""
        filesystem = self.filesystem
        if self.mount is None or filesystem is None or filesystem.data_mode is None:
            return None
        return filesystem.data_mode(self.mount.options, self.superblock)


def read(raw: Path, database: str) -> Board:
    """Read a run's raw/; `database` is the path of the database on the board."""
    board = Board()

    def path_of(name: str) -> Path | None:
        """Return the path of a file in raw/; None (and a problem) if it is missing or empty."""
        path = raw / name
        if path.is_file() and (path.stat().st_size or name == "dmesg.txt"):
            return path
        board.problems.append(f"raw/{name} is missing or empty")
        return None

    def lines_of(name: str) -> list[str]:
        """Return the lines of a file in raw/; none (and a problem) if it is missing or empty."""
        path = path_of(name)
        return read_text(path).splitlines() if path else []

    if not (raw / "driver/driver.err").is_file():
        board.problems.append("raw/driver/driver.err is missing")
    for name in ("run-cell.status", "run-cell.log"):
        lines_of(name)
    for name in ("queue", "device"):
        if path := path_of(f"board/{name}.txt"):
            setattr(board, name, read_pairs(path))
    if (raw / "board/device_time.txt").exists():
        board.device_time = read_pairs(raw / "board/device_time.txt")
    board.modules = {path.stem: read_pairs(path) for path in sorted(raw.glob("board/modules/*.txt"))}
    for name in ("kernel", "cmdline", "cpuinfo", "meminfo"):
        if path := path_of(f"board/{name}.txt"):
            board.texts[name] = read_text(path).strip()
    board.superblock = parse_superblock("\n".join(lines_of("board/superblock.txt")))
    board.versions = {
        name: version for name, _, version in (line.partition(" ") for line in lines_of("board/versions.txt"))
    }
    board.files = lines_of("board/files.txt")
    board.names = _names(raw / "board/files.txt", board.files)
    board.heads = _heads(raw / "board/heads.txt")
    if path := path_of("board/mounts"):
        board.mount = find_mount(read_text(path), database)
        if board.mount is None:
            board.problems.append(f"raw/board/mounts has no mount that contains {database}")
    board.layout = _layout(board, raw, path_of)
    board.covariates = covariates.read(raw)
    if path := path_of("run.json"):
        board.run = read_document(path, "run")
    if path := path_of("dmesg.txt"):
        board.dmesg = read_text(path).split("\n")[:-1]
        board.problems += _dmesg_problems(board.dmesg)
    return board


def _names(path: Path, lines: list[str]) -> dict[int, str]:
    """Return inode → name for the lines of files.txt with a name: `ls -1 -i -s --block-size=1`."""
    rows = ((line, re.fullmatch(r" *([0-9]+) +[0-9]+ (.+)", text)) for line, text in enumerate(lines, 1))
    return {integer(path, line, "an inode", row[1]): row[2] for line, row in rows if row}


def _heads(path: Path) -> dict[int, bytes]:
    """Return inode → first bytes of a command's files, from heads.txt. Raises FileError."""
    if not path.is_file():
        return {}
    heads = {}
    for line, text in enumerate(read_text(path).splitlines(), 1):
        row = re.fullmatch(r"([0-9]+) [0-9]+ ((?:[0-9a-f]{2}){0,16})", text)
        if row is None:
            raise FileError(path, f"line {line}", text[:80], "an inode, a size and bytes in hex digits")
        heads[integer(path, line, "an inode", row[1])] = bytes.fromhex(row[2])
    return heads


def _dmesg_problems(lines: list[str]) -> list[str]:
    """Return a problem for the first line that `dmesg --raw` cannot print: it escapes control characters."""
    for number, line in enumerate(lines, 1):
        if not _LOGGED.match(line) or not line.replace("\t", " ").isprintable() or "\ufffd" in line:
            return [f"raw/dmesg.txt: line {number} is not a kernel log line: {line[:100]!r}"]
    return []


def _layout(board: Board, raw: Path, path_of: Callable[[str], Path | None]) -> Layout | None:
    """Return the layout of the filesystem; None (and a problem) if a file that describes it is missing."""
    if board.mount is None:
        return None
    try:
        filesystem = filesystems.by_name(board.mount.fs)
    except UnknownFilesystemError as error:
        board.problems.append(f"raw/board/mounts: {error}")
        return None
    if not board.superblock:
        return None
    missing = [name for name in filesystem.files if path_of(f"board/{name}") is None]
    return None if missing else layouts.layout(board.mount.fs, raw / "board", board.superblock)


def find_mount(text: str, path: str) -> Mount | None:
    """Return the mount of /proc/mounts that contains `path`: the last one of the deepest."""
    best: Mount | None = None
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    for line in text.splitlines():
        # with octal escapes
        fields = [re.sub(r"\\([0-7]{3})", lambda at: chr(int(at[1], 8)), part) for part in line.split(" ")]
        if len(fields) < 4 or fields[1] not in parents or fields[1] == "/":
            continue
        if best is None or len(fields[1]) >= len(best.point):
            best = Mount(fields[0], fields[1], fields[2], tuple(fields[3].split(",")))
    return best


def parse_superblock(text: str) -> dict[str, str]:
    """Return the fields of superblock.txt: `name: value`, `name = value` or `name [0x.. : n]`."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"^(?:Info: )?([A-Za-z_][\w #/().-]*?)(?::\s+|\s+=\s+|\s+\[)(.*?)\]?\s*$", line)
        if match:
            fields[match[1]] = match[2]
    return fields
