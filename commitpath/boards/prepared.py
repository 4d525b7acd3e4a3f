"""Prepared boards: from a booted image to a snapshot that every run starts from.

Three snapshots, each made from the one before: a provisioned board, what is prepared on it, and
that with a cell's probes attached.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from analysis.adapters.known_sequence import read as read_known
from analysis.instrument import probe_selftest
from base import identity, scratch
from base.errors import LabError
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.payload import (
    RUN_SCRIPTS,
    board_files,
    device_script,
    filesystem_scripts,
    load_script,
    mount_options,
    observer_scripts,
    prepared_variables,
    run_scripts,
    texts,
    write_self_extracting,
)
from commitpath.cells import observers, persistent_memory
from commitpath.cells.axes import probe_files
from commitpath.cells.profiles import kernel_profile
from commitpath.host import ansible
from images import artifacts, emulator, qemu, snapshot
from images.board import VirtualBoard
from images.ssh import Login, make_keys
from model.cell import Cell
from model.requested import mkfs

# Of what a playbook is told: paths and contents, which have names or hashes here.
HOSTS_OWN = ("driver", "trials", "probes", "modules", "board_modules", "schema", "transactions", "scripted")
# Sent with each run, so no part of what a snapshot is keyed by.
KNOWN_SEQUENCE = "known-sequence.sh"
SENT_LATER = (*RUN_SCRIPTS, KNOWN_SEQUENCE, "calibrate-cell.sh", "calibrate.sh")
# And what no virtual board gets, or none that is saved.
NOT_SAVED = (*SENT_LATER, *lab_board.SCRIPTS)
# Wall seconds until the known sequence counts as hung.
KNOWN_LIMIT_SECONDS = 300.0
Done = TypeVar("Done")


def memory_mib(cell: Cell) -> int:
    """MiB of a virtual board's memory; its device is in it, and what observers keep."""
    there = observers.on_board(cell.probes.split(","))
    of_observers = sum(int(observers.profiles()[name].get("memory_mib", 0)) for name in there)
    return qemu.BOARD_MEMORY_MIB + int(cell.profiles["device"]["size_mib"]) + of_observers


def virtual_board(cell: Cell) -> VirtualBoard:
    """The virtual board that a cell runs on."""
    keys = artifacts.CACHE / "keys"
    with artifacts.locked(keys):
        make_keys(keys)
    besides = [*observers.packages(cell.probes.split(",")), *cell.packages]
    image, vm = artifacts.image(kernel_profile(cell), besides), artifacts.CACHE / "vm"
    of_board = (image, keys, memory_mib(cell), int(cell.cpu_ns), vm)
    return VirtualBoard(*of_board, emulator.chosen(), persistent_memory.mib(cell))


def provision(variables: Mapping[str, Any], limit: float | None = None, *options: str) -> list[str]:
    """provision.yml on a board that answers: all but the filesystem. What it said, with --check."""
    with step("provision the board"), scratch.temporary("files") as work:
        write_self_extracting(work / "packed", board_files(variables))
        more = {**variables, "files": str(work / "packed")}
        log = artifacts.CACHE / "log/provision.json"
        said = ansible.play("provision.yml", more, log, *options, limit=limit)
        if "persistent_folder" in variables:
            log = artifacts.CACHE / "log/persistent.json"
            said += ansible.play("persistent.yml", variables, log, *options, limit=limit)
        return said


def prepare(variables: Mapping[str, Any], limit: float | None = None) -> None:
    """prepare.yml on a board that is provisioned."""
    kind = variables["load_script"]
    files = {f"bin/{kind}": Path(variables["driver"]).read_bytes(), "load.sh": load_script(kind)}
    files |= {**run_scripts(), **texts(variables)}
    if variables.get("trials"):
        files["bin/trials"] = Path(variables["trials"]).read_bytes()
    for name, digest in variables.get("given", {}).items():
        files[f"given/bin/{name}"] = artifacts.kept(digest).read_bytes()
    for name, made in variables.get("preloads", {}).items():
        files[f"bin/preload/{name}.so"] = (artifacts.CACHE / made).read_bytes()
    with step("make, mount and populate the filesystem, rehearse"), scratch.temporary("files") as work:
        write_self_extracting(work / "packed", files)
        more = {**variables, "files": str(work / "packed")}
        ansible.play("prepare.yml", more, artifacts.CACHE / "log/prepare.json", limit=limit)


def provisioned_folder(board: VirtualBoard, variables: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
    """(folder, inputs) of the snapshot of a provisioned board."""
    on_board = [path for kind in ("sh", "py") for path in ansible.PLAYBOOKS.glob(f"board/*.{kind}")]
    parts = [*filesystem_scripts(), *observer_scripts(variables["scripted"])]
    of_device = device_script(variables["device_driver"])
    scripts = [*on_board, *parts, of_device, ansible.PLAYBOOKS / "provision.yml"]
    scripts = [path for path in scripts if path.name not in NOT_SAVED]
    inputs = {
        **{k: v for k, v in variables.items() if k.startswith(("board_", "device_"))},
        # what it must be able to make and to watch, and rehearses
        **{name: variables[name] for name in ("filesystems", "observers", "all_probes")},
        "probes": Path(variables["probes"]).parent.name,
        "modules": [Path(module).parent.name for module in variables["modules"]],
        "board_modules": [Path(module).parent.name for module in variables["board_modules"]],
        "image": board.image.name,
        # two images of the same inputs are not the same to the byte, and the guest's memory holds
        # pieces of the one that it booted
        "image_made_ns": (board.image / "root.img").stat().st_mtime_ns,
        "memory_mib": board.memory_mib,
        "machine": artifacts.hash_of(board.description()),
        # SSH reaches it by these when it goes on
        "keys": artifacts.hash_of(files=board.keys.glob("*.pub")),
        "scripts": artifacts.hash_of(files=[*scripts, artifacts.IMAGES / "await-cell.sh"]),
        "qemu": qemu.qemu_version(),
    }
    if "persistent_folder" in variables:
        of_memory = [ansible.PLAYBOOKS / f"persistent.{kind}" for kind in ("yml", "sh")]
        inputs["persistent"] = [variables["persistent_folder"], artifacts.hash_of(files=of_memory)]
    key = artifacts.hash_of(json.dumps(inputs, sort_keys=True))
    return artifacts.CACHE / "snapshots" / f"provisioned-{variables['device_driver']}-{key}", inputs


def snapshot_folder(
    cell: Cell, board: VirtualBoard, variables: Mapping[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """(folder, inputs) of the snapshot that a cell's runs start from."""
    inputs = {
        **{k: v for k, v in variables.items() if k not in HOSTS_OWN},
        **provisioned_folder(board, variables)[1],
        # it makes the database
        "driver": Path(variables["driver"]).name,
        **({"trials": Path(variables["trials"]).name} if variables.get("trials") else {}),
        "playbook": artifacts.hash_of(files=[ansible.PLAYBOOKS / "prepare.yml"]),
        **{name: hashlib.sha256(text).hexdigest() for name, text in texts(variables).items()},
        "load": artifacts.hash_of(load_script(cell.load).decode()),
    }
    key = artifacts.hash_of(json.dumps(inputs, sort_keys=True))
    table = [cell.rows, cell.value_size] if cell.load == identity.DRIVER else [cell.load]
    return artifacts.CACHE / "snapshots" / "-".join([cell.fs, *map(str, table), key]), inputs


def ensure(folder: Path, inputs: Mapping[str, Any], what: str, build: Callable[[], None]) -> Path:
    """A snapshot of a board, built if it is not there, not whole, or another QEMU's."""
    remove_unfit(folder, inputs)
    scratch.make_private(folder)
    return artifacts.ensure(folder, what, build, mib=inputs["memory_mib"])


def make_provisioned(
    folder: Path, inputs: Mapping[str, Any], board: VirtualBoard, variables: Mapping[str, Any]
) -> None:
    """Boot, provision, save; the folder appears only when whole."""
    with (
        artifacts.whole(folder, "save a snapshot", scratch.PRIVATE) as part,
        board.started("provision", part / "ram") as (login, machine, monitor),
    ):
        provision({**variables, **login.ansible()})
        board.save_reachable(login, machine, monitor, part)
        snapshot.write(part, inputs)


def ensure_provisioned(board: VirtualBoard, variables: Mapping[str, Any]) -> Path:
    """The snapshot that every filesystem is prepared on, made if it is not there or not whole."""
    folder, inputs = provisioned_folder(board, variables)
    what = "boot a board, provision it and save a snapshot"
    return ensure(folder, inputs, what, lambda: make_provisioned(folder, inputs, board, variables))


@contextmanager
def prepared_board(
    board: VirtualBoard, variables: Mapping[str, Any], ram: Path | None = None
) -> Iterator[tuple[Login, qemu.Machine, qemu.Monitor]]:
    """A board with its filesystem made and populated, that SSH reaches; RAM: the file of its memory."""
    with board.resumed(ensure_provisioned(board, variables), ram) as (login, machine, monitor):
        prepare({**variables, **login.ansible()})
        yield login, machine, monitor


def make_snapshot(
    folder: Path, inputs: Mapping[str, Any], board: VirtualBoard, variables: Mapping[str, Any]
) -> None:
    """Prepare a provisioned board and save it; the folder appears only when whole."""
    with (
        artifacts.whole(folder, "save a snapshot", scratch.PRIVATE) as part,
        prepared_board(board, variables, part / "ram") as (login, machine, monitor),
        step("save the snapshot"),
    ):
        board.save(login, machine, monitor, part)
        snapshot.write(part, inputs)


def again_if_damaged(work: Callable[[], Done]) -> Done:
    """What WORK returns; where it finds a snapshot damaged, that is removed and WORK done once more.

    WORK makes sure of the snapshots that it needs: a snapshot's memory is checked when it is used.
    It needs a few, each of which may be damaged; one that is found so twice ends it.
    """
    damaged: set[Path] = set()
    while True:
        try:
            return work()
        except snapshot.SnapshotError as error:
            if error.folder in damaged:
                raise
            damaged.add(error.folder)
            print(f"{error}; it is made again", file=sys.stderr)
            # another job may have found the same and be at work on it
            with artifacts.locked(error.folder):
                if error.folder.exists() and snapshot.ram_fault(error.folder):
                    snapshot.remove(error.folder)


def remove_unfit(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Remove a snapshot that is not whole, and what another QEMU saved in its place; say so."""
    if folder.exists() and (fault := snapshot.fault(folder)):
        print(f"the snapshot {folder.name} is made again: {fault}", file=sys.stderr)
        snapshot.remove(folder)
    for other, version in snapshot.saved_by_another_qemu(folder, inputs):
        print(f"the snapshot {other.name} is made again: it was saved by {version}", file=sys.stderr)
        snapshot.remove(other)


def ensure_snapshot(cell: Cell, driver: Path, entry: Mapping[str, Any]) -> Path:
    """The snapshot that a cell's runs start from, made if it is not there or not whole."""
    board = virtual_board(cell)
    variables = prepared_variables(cell, driver, entry)
    folder, inputs = snapshot_folder(cell, board, variables)
    what = "prepare a board and save its snapshot"
    return ensure(folder, inputs, what, lambda: make_snapshot(folder, inputs, board, variables))


def known_sequence() -> bytes:
    """The script of a known sequence of writes and syncs."""
    return (ansible.PLAYBOOKS / "board" / KNOWN_SEQUENCE).read_bytes()


def prove(cell: Cell, watched: Path, files: Mapping[str, bytes], board: VirtualBoard) -> None:
    """LabError unless the probes of a watched snapshot record a known sequence as it was.

    It runs in a run's place, from those bytes, which it leaves as they are.
    """
    in_its_place = {**files, "run-cell.sh": known_sequence()}
    output = board.run_cell(watched, in_its_place, KNOWN_LIMIT_SECONDS)
    where = f"KERNEL={cell.kernel} FS={cell.fs}: a known sequence of writes and syncs"
    if output.failed:
        raise LabError(f"{where} failed: {output.text('run-cell.log').strip()}")
    kind = cell.profiles["fs"]["type"]
    with artifacts.work_folder() as work:
        output.extract(work)
        found = probe_selftest.wrong(
            read_known(work / "raw"),
            probe_files(cell.probes, kind),
            kind,
            journals_data="data=journal" in mount_options(cell).split(","),
            journalled=mkfs.journalled(cell),
        )
        if found:
            log = artifacts.CACHE / "log/known-sequence.tar"
            log.parent.mkdir(exist_ok=True)
            log.write_bytes(output.tar)
            raise LabError(
                f"{where} is not what the probes recorded: {'; '.join(found[:3])}"
                f"{f'; and {len(found) - 3} more' if len(found) > 3 else ''} (all that they did: {log})"
            )


def ensure_watched(cell: Cell, prepared: Path, files: Mapping[str, bytes], board: VirtualBoard) -> Path:
    """A prepared snapshot with the cell's probes attached, so that no run waits for that.

    Without probes it is the prepared one itself.
    """
    if not cell.probes:
        return prepared
    # what watching depends on; the rest of cell.env is the run's own, and the probes
    # themselves are on the prepared board
    scripts = [name for name in files if name == "watch.sh" or name.startswith("observer")]
    proof = known_sequence().decode()
    key = artifacts.hash_of(
        cell.probes, proof, *(f"{name}\n{files[name].decode()}" for name in sorted(scripts))
    )
    folder = prepared.with_name(f"{prepared.name}+{key}")

    inputs = {**snapshot.read_meta(prepared)["inputs"], "probes": cell.probes}

    def build() -> None:
        with artifacts.whole(folder, "save a snapshot with probes", scratch.PRIVATE) as part:
            board.attach(prepared, dict(files), part)
            snapshot.write(part, inputs)
            with step("count what the probes record of a known sequence"):
                prove(cell, part, files, board)

    return ensure(folder, inputs, "attach the probes and save a snapshot", build)
