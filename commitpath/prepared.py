"""Prepared boards: from a booted image to a snapshot that every run starts from."""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath import ansible
from commitpath.payload import board_files, prepared_variables, write_tar
from commitpath.progress import step
from images import artifacts, qemu, snapshot
from images.board import VirtualBoard
from images.ssh import Login, make_keys

# Sent with each run, so no part of what a snapshot is keyed by.
RUN_SCRIPTS = ("run-cell.sh", "watch.sh", "set-timing.sh", "calibrate-cell.sh")


def memory_mib(cell: Mapping[str, Any]) -> int:
    """MiB of a virtual board's memory; its device is in it."""
    return qemu.BOARD_MEMORY_MIB + int(cell["profiles"]["device"]["size_mib"])


def virtual_board(cell: Mapping[str, Any]) -> VirtualBoard:
    """The virtual board that a cell runs on."""
    keys = artifacts.CACHE / "keys"
    with artifacts.locked(keys):
        make_keys(keys)
    return VirtualBoard(artifacts.image(), keys, memory_mib(cell), artifacts.CACHE / "vm")


def prepare(cell: Mapping[str, Any], login: Login | None, variables: Mapping[str, Any]) -> None:
    """provision.yml and prepare.yml on a board that answers."""
    log = artifacts.CACHE / "log"
    connection = login.ansible() if login else {}
    with step("provision the board"), tempfile.NamedTemporaryFile() as packed:
        write_tar(Path(packed.name), board_files(cell, variables))
        more = {**variables, **connection, "files": packed.name}
        ansible.play("provision.yml", more, log / "provision.json")
    with step("make, mount and populate the filesystem, rehearse"):
        ansible.play("prepare.yml", {**variables, **connection}, log / "prepare.json")


def snapshot_folder(
    cell: Mapping[str, Any], board: VirtualBoard, variables: Mapping[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """(folder, inputs) of the snapshot that a cell's runs start from."""
    scripts = [
        *(ansible.PLAYBOOKS / "board").glob("*.sh"),
        ansible.PLAYBOOKS / "provision.yml",
        ansible.PLAYBOOKS / "prepare.yml",
        artifacts.IMAGES / "await-cell.sh",
    ]
    scripts = [path for path in scripts if path.name not in RUN_SCRIPTS]
    inputs = {
        **{k: v for k, v in variables.items() if k not in ("driver", "probes", "flash_module")},
        "driver": Path(variables["driver"]).name,
        "probes": Path(variables["probes"]).parent.name,
        "flash_module": Path(variables["flash_module"]).parent.name,
        "image": board.image.name,
        "memory_mib": board.memory_mib,
        "machine": artifacts.hash_of(board.description()),
        "scripts": artifacts.hash_of(files=scripts),
        "qemu": qemu.qemu_version(),
    }
    key = artifacts.hash_of(json.dumps(inputs, sort_keys=True))
    return artifacts.CACHE / "snapshots" / f"{cell['fs']}-{cell['rows']}-{cell['value_size']}-{key}", inputs


def make_snapshot(
    cell: Mapping[str, Any],
    folder: Path,
    inputs: Mapping[str, Any],
    board: VirtualBoard,
    variables: Mapping[str, Any],
) -> None:
    """Boot, provision, prepare, save; the folder appears only when whole."""
    with (
        artifacts.whole(folder, "save a snapshot") as part,
        board.started("provision", part / "ram") as (login, machine, monitor),
    ):
        prepare(cell, login, variables)
        with step("save the snapshot"):
            board.save(login, machine, monitor, part)
            snapshot.write(part, inputs)


def remove_unfit(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Remove a snapshot that is not whole, and what another QEMU saved in its place; say so."""
    if folder.exists() and (fault := snapshot.fault(folder)):
        print(f"the snapshot {folder.name} is made again: {fault}", file=sys.stderr)
        snapshot.remove(folder)
    for other, version in snapshot.saved_by_another_qemu(folder, inputs):
        print(f"the snapshot {other.name} is made again: it was saved by {version}", file=sys.stderr)
        snapshot.remove(other)


def ensure_snapshot(cell: Mapping[str, Any], driver: Path, entry: Mapping[str, Any]) -> Path:
    """The snapshot that a cell's runs start from, made if it is not there or not whole."""
    board = virtual_board(cell)
    variables = prepared_variables(cell, driver, entry)
    folder, inputs = snapshot_folder(cell, board, variables)
    remove_unfit(folder, inputs)
    return artifacts.ensure(
        folder,
        "prepare a board and save its snapshot",
        lambda: make_snapshot(cell, folder, inputs, board, variables),
        mib=board.memory_mib,
    )


def ensure_watched(
    cell: Mapping[str, Any], prepared: Path, files: Mapping[str, bytes], board: VirtualBoard
) -> Path:
    """A prepared snapshot with the cell's probes attached, so that no run waits for that.

    Without probes it is the prepared one itself.
    """
    if not cell["probes"]:
        return prepared
    # what attaching depends on; the rest of cell.env is the run's own, and the probes
    # themselves are on the prepared board
    key = artifacts.hash_of(cell["probes"], files["watch.sh"].decode())
    folder = prepared.with_name(f"{prepared.name}+{key}")

    inputs = {**snapshot.read_meta(prepared)["inputs"], "probes": cell["probes"]}

    def build() -> None:
        with artifacts.whole(folder, "save a snapshot with probes") as part:
            board.attach(prepared, dict(files), part)
            snapshot.write(part, inputs)

    remove_unfit(folder, inputs)
    return artifacts.ensure(folder, "attach the probes and save a snapshot", build, mib=board.memory_mib)
