"""`make watch`: a command that is not our driver runs on the board, under the observers."""

import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from base import identity
from base.errors import BadInputError
from base.progress import step
from commitpath.boards import lab_board
from commitpath.cells.axes import axes, run_axes
from commitpath.cells.from_variables import make_cell
from commitpath.command_line.variables import axes_of
from commitpath.host import ansible, places
from commitpath.host.packages import ensure_packages
from images import artifacts, kvm
from model.cell import Cell

PACKAGE = re.compile("[a-z0-9][a-z0-9+.-]+")
NAME = re.compile("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
# e_ident up to its data encoding, and e_machine: little-endian 64-bit arm64 (elf.h)
ELF, ARM64 = b"\x7fELF", 183
COMMAND_BYTES = 64 * 1024  # of the 256 KiB that the board is sent with a run


def watch(variables: dict[str, str]) -> int:
    """Run a command on the board and say what it made the device do."""
    limit = run_axes()["limit"]
    seconds = limit.parse(variables.pop("LIMIT", str(limit.spec["default"])), "LIMIT")
    cell = command_cell(variables)
    places.check_runs([cell])
    entry = ansible.board(cell.board)
    if cell.clock == "kvm":
        kvm.check()
    ensure_packages(virtual=entry["board_kind"] == "virtual")
    from commitpath.run.experiment import run_once

    folder = run_once(cell, seconds)
    with step("check and analyse"):
        from analysis.__main__ import main as analyse

        return analyse([str(folder)])


def command_cell(variables: Mapping[str, str]) -> Cell:
    """The cell of a command: CMD, FILES and PACKAGES, and the axes that watch takes, those that say where it
    runs and who watches. Raises BadInputError."""
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
            raise BadInputError(f"PACKAGES: {package!r} is no name of a Debian package")
    # a name that no board has is told before what its cell would need
    entry = ansible.board(given.get("BOARD", "virtual"))
    cell = make_cell(given)
    lab_board.check_clock(cell, entry)
    if packages and entry["board_kind"] != "virtual":
        raise BadInputError(
            f"PACKAGES={','.join(packages)}: BOARD={cell.board} has packages of its own; install them there"
        )
    for path in paths:
        check_file(path)
    # before any is read: one may be larger than this host's memory
    size = sum(path.stat().st_size for path in paths) >> 20
    device = cell.profiles["device"]["size_mib"] or int(entry["board_device_bytes"]) >> 20
    if size > device // 2:
        raise BadInputError(f"FILES: {size} MiB; DEVICE={cell.device} has {device}, half of which is theirs")
    contents = {name: checked(path) for name, path in files.items()}
    kept = [name for name, axis in axes().items() if axis.variable in axes_of("watch")]
    parts = {name: content for name, content in cell.profiles.items() if name in kept}
    # their fields have the default, as those of a cell that is read back
    absent = {name: axis.spec["default"] for name, axis in axes().items() if name not in kept}
    return replace(
        cell,
        **absent,
        load=identity.COMMAND,
        command=command,
        files={name: artifacts.keep_given(content) for name, content in contents.items()},
        # those of every board change nothing
        packages=sorted(set(packages) - artifacts.on_every_board()),
        profiles=parts,
        absent=frozenset(absent),
    )


def split(text: str) -> list[str]:
    """What is between the commas."""
    return [word for word in text.split(",") if word]


def check_file(path: Path) -> None:
    """BadInputError if a path is no file, or has a name that the board does not take."""
    if not path.exists():
        raise BadInputError(f"FILES: {path}: no such file")
    if not path.is_file():
        raise BadInputError(f"FILES: {path}: not a file")
    if not NAME.fullmatch(path.name):
        raise BadInputError(f"FILES: {path.name!r}: a name of letters, digits and _ . + - is needed")


def checked(path: Path) -> bytes:
    """The content of a file for the board; BadInputError: unreadable, or another architecture's."""
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
