"""Make the cell of `make watch` from CMD, FILES and PACKAGES: a user's command to run on the board."""

import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from base import identity
from base.errors import BadInputError
from commitpath.boards import lab_board
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.command_line.variables import axes_of
from commitpath.host import ansible
from images import artifacts
from model.cell import Cell

PACKAGE = re.compile("[a-z0-9][a-z0-9+.-]+")
NAME = re.compile("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
# e_ident and e_machine (elf.h)
ELF, ARM64 = b"\x7fELF", 183
COMMAND_BYTES = 64 * 1024  # of the 256 KiB of a run's files


def command_cell(variables: Mapping[str, str]) -> Cell:
    """Return the cell of a command: CMD, FILES, PACKAGES, and the axes of the board and the observers.

    Raises BadInputError.
    """
    given = dict(variables)
    command = given.pop("CMD", "")
    if not command.strip():
        raise BadInputError("make watch takes CMD='<a command of sh, run on the board>'")
    if len(command.encode(errors="surrogateescape")) > COMMAND_BYTES or not command.isprintable():
        raise BadInputError(
            f"CMD: at most {COMMAND_BYTES} bytes of printable characters; a longer one is a file of FILES"
        )
    paths = [Path(text) for text in split(given.pop("FILES", ""))]
    files = {path.name: path for path in paths}
    if len(files) < len(paths):
        raise BadInputError("FILES: two files of one name; on the board they are in one folder")
    packages = split(given.pop("PACKAGES", ""))
    for package in packages:
        if not PACKAGE.fullmatch(package):
            raise BadInputError(f"PACKAGES: {package!r} is not a valid Debian package name")
    # an unknown board first, before the needs of its cell
    entry = ansible.board(given.get("BOARD", "virtual"))
    cell = make_cell(given)
    lab_board.check_clock(cell, entry)
    if packages and entry["board_kind"] != "virtual":
        raise BadInputError(
            f"PACKAGES={','.join(packages)}: BOARD={cell.board} has packages of its own; install them there"
        )
    for path in paths:
        check_file(path)
    # checked before any is read: one may be larger than this host's memory
    size = sum(path.stat().st_size for path in paths) >> 20
    device = cell.profiles["device"]["size_mib"] or int(entry["board_device_bytes"]) >> 20
    if size > device // 2:
        raise BadInputError(f"FILES: {size} MiB; DEVICE={cell.device} has {device}, half of it for files")
    contents = {name: read_file(path) for name, path in files.items()}
    watched = [name for name, axis in axes().items() if axis.variable in axes_of("watch")]
    # absent fields have the default, as in a cell that is read back
    absent = {name: axis.spec["default"] for name, axis in axes().items() if name not in watched}
    return replace(
        cell,
        **absent,
        load=identity.COMMAND,
        command=command,
        files={name: artifacts.keep_given(content) for name, content in contents.items()},
        packages=sorted(set(packages) - artifacts.on_every_board()),
        profiles={name: content for name, content in cell.profiles.items() if name in watched},
        absent=frozenset(absent),
    )


def split(text: str) -> list[str]:
    """Return the words between commas."""
    return [word for word in text.split(",") if word]


def check_file(path: Path) -> None:
    """Refuse a path that is not a file, or has a name that the board does not accept."""
    if not path.is_file():
        raise BadInputError(f"FILES: {path}: {'not a file' if path.exists() else 'no such file'}")
    if not NAME.fullmatch(path.name):
        raise BadInputError(f"FILES: {path.name!r}: a name of letters, digits and _ . + - is needed")


def read_file(path: Path) -> bytes:
    """Return the content of a file for the board. Raises BadInputError, also for a foreign program."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"FILES: {path}: {error.strerror}") from error
    if content[:4] == ELF:
        machine = struct.unpack_from("<H", content, 18)[0] if len(content) >= 20 else 0
        if (content[4:6], machine) != (b"\2\1", ARM64):
            raise BadInputError(
                f"FILES: {path}: an ELF file of machine {machine}; the board's is arm64 ({ARM64})"
            )
    return content
