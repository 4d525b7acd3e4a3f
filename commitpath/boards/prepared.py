"""Provision and prepare a board with Ansible; make a virtual board's snapshots; test its probes.

Three snapshots, each made from the one before: provisioned, prepared, and with a cell's probes attached.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from base import identity, scratch
from base.errors import LabError
from base.progress import step
from commitpath.boards import lab_board
from commitpath.boards.payload import (
    RUN_SCRIPTS,
    board_files,
    board_scripts,
    device_script,
    filesystem_scripts,
    load_script,
    mount_options,
    observer_scripts,
    prepared_variables,
    texts,
    write_self_extracting,
)
from commitpath.cells import observers, persistent_memory
from commitpath.cells.axes import probe_files
from commitpath.cells.profiles import kernel_profile, own_packages
from commitpath.host import ansible
from images import artifacts, emulator, qemu, snapshot
from images.board import VirtualBoard
from images.ssh import Login, make_keys
from model.cell import Cell
from model.requested import mkfs

# Variables of a playbook with paths or contents; in the inputs of a snapshot they have names or hashes.
HOSTS_OWN = (
    *("driver", "trials", "probes", "modules", "board_modules"),
    *("schema", "transactions", "rehearsal", "scripted"),
)
# Sent with each run, so not part of a snapshot's key.
KNOWN_SEQUENCE = "known-sequence.sh"
SENT_LATER = (*RUN_SCRIPTS, KNOWN_SEQUENCE, "calibrate-cell.sh", "calibrate.sh", "profile-cell.sh")
# The same, and scripts for lab boards only.
NOT_SAVED = (*SENT_LATER, *lab_board.SCRIPTS)
# Wall seconds until the known sequence counts as hung.
KNOWN_LIMIT_SECONDS = 300.0
Done = TypeVar("Done")


def memory_mib(cell: Cell) -> int:
    """Return the memory of a virtual board, with its device and its observers, in MiB."""
    names = observers.on_board(cell.probes.split(","))
    of_observers = sum(int(observers.profiles()[name].get("memory_mib", 0)) for name in names)
    return qemu.BOARD_MEMORY_MIB + int(cell.profiles["device"]["size_mib"]) + of_observers


def virtual_board(cell: Cell) -> VirtualBoard:
    """Return the virtual board for a cell."""
    keys = artifacts.CACHE / "keys"
    with artifacts.locked(keys):
        make_keys(keys)
    packages = [*observers.packages(cell.probes.split(",")), *own_packages(cell), *cell.packages]
    return VirtualBoard(
        artifacts.image(kernel_profile(cell), packages),
        keys,
        memory_mib(cell),
        int(cell.cpu_ns),
        artifacts.CACHE / "vm",
        emulator.chosen(),
        persistent_memory.mib(cell),
    )


def provision(variables: Mapping[str, Any], limit: float | None = None, *options: str) -> list[str]:
    """Play provision.yml: all but the filesystem. Return its output lines, with --check."""
    with step("provision the board"), scratch.temporary("files") as work:
        write_self_extracting(work / "packed", board_files(variables))
        more = {**variables, "files": str(work / "packed")}
        log = artifacts.CACHE / "log/provision.json"
        lines = ansible.play("provision.yml", more, log, *options, limit=limit)
        if "persistent_folder" in variables:
            log = artifacts.CACHE / "log/persistent.json"
            lines += ansible.play("persistent.yml", variables, log, *options, limit=limit)
        return lines


def prepare(variables: Mapping[str, Any], limit: float | None = None) -> None:
    """Play prepare.yml on a provisioned board: make, mount and populate its filesystem, rehearse a run."""
    kind = variables["load_script"]
    files = {f"bin/{kind}": Path(variables["driver"]).read_bytes(), "load.sh": load_script(kind)}
    files |= {**board_scripts(RUN_SCRIPTS), **texts(variables)}
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
    """Return (folder, inputs) of the snapshot of a provisioned board."""
    scripts = [
        *(path for kind in ("sh", "py") for path in ansible.PLAYBOOKS.glob(f"board/*.{kind}")),
        *filesystem_scripts(),
        *observer_scripts(variables["scripted"]),
        device_script(variables["device_driver"]),
        ansible.PLAYBOOKS / "provision.yml",
    ]
    scripts = [path for path in scripts if path.name not in NOT_SAVED]
    inputs = {
        **{k: v for k, v in variables.items() if k.startswith(("board_", "device_"))},
        **{name: variables[name] for name in ("filesystems", "observers", "all_probes")},
        "probes": Path(variables["probes"]).parent.name,
        "modules": [Path(module).parent.name for module in variables["modules"]],
        "board_modules": [Path(module).parent.name for module in variables["board_modules"]],
        "image": board.image.name,
        # images of equal inputs differ in bytes, and the guest's memory has pieces of the booted one
        "image_made_ns": (board.image / "root.img").stat().st_mtime_ns,
        "memory_mib": board.memory_mib,
        "machine": artifacts.hash_of(board.description()),
        # of a resumed board's SSH
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
    """Return (folder, inputs) of the snapshot that a cell's runs start from."""
    inputs = {
        **{k: v for k, v in variables.items() if k not in HOSTS_OWN},
        **provisioned_folder(board, variables)[1],
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
    """Return a snapshot's folder, built if it is missing, not whole, or saved by another QEMU."""
    remove_unfit(folder, inputs)
    scratch.make_private(folder)
    snapshot.mark_used(folder)
    return artifacts.ensure(folder, what, build, mib=inputs["memory_mib"])


def make_provisioned(
    folder: Path, inputs: Mapping[str, Any], board: VirtualBoard, variables: Mapping[str, Any]
) -> None:
    """Boot a board, provision it and save it; the folder appears only when whole."""
    with (
        artifacts.whole(folder, "save a snapshot", scratch.PRIVATE) as part,
        board.started("provision", part / "ram") as (login, machine, monitor),
    ):
        provision({**variables, **login.ansible()})
        board.save_reachable(login, machine, monitor, part)
        snapshot.write(part, inputs)


def ensure_provisioned(board: VirtualBoard, variables: Mapping[str, Any]) -> Path:
    """Return the snapshot of a provisioned board, made if needed."""
    folder, inputs = provisioned_folder(board, variables)
    what = "boot a board, provision it and save a snapshot"
    return ensure(folder, inputs, what, lambda: make_provisioned(folder, inputs, board, variables))


@contextmanager
def prepared_board(
    board: VirtualBoard, variables: Mapping[str, Any], ram: Path | None = None
) -> Iterator[tuple[Login, qemu.Machine, qemu.Monitor]]:
    """Yield a board reachable by SSH, with its filesystem made and populated. ram: the file of its memory."""
    with board.resumed(ensure_provisioned(board, variables), ram) as (login, machine, monitor):
        prepare({**variables, **login.ansible()})
        yield login, machine, monitor


def again_if_damaged(work: Callable[[], Done]) -> Done:
    """Return the result of `work`, repeated after the removal of a damaged snapshot.

    A snapshot's memory is checked when it is used. One that is damaged twice ends the call.
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
            # another job may be repairing it
            with artifacts.locked(error.folder):
                if error.folder.exists() and snapshot.ram_fault(error.folder):
                    snapshot.remove(error.folder)


def remove_unfit(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Remove a snapshot that is not whole, or saved by another QEMU, with a line on stderr."""
    if folder.exists() and (fault := snapshot.fault(folder)):
        print(f"the snapshot {folder.name} is made again: {fault}", file=sys.stderr)
        snapshot.remove(folder)
    for other, version in snapshot.saved_by_another_qemu(folder, inputs):
        print(f"the snapshot {other.name} is made again: it was saved by {version}", file=sys.stderr)
        snapshot.remove(other)


def ensure_snapshot(cell: Cell, driver: Path, entry: Mapping[str, Any]) -> Path:
    """Return the snapshot that a cell's runs start from, made if needed."""
    board = virtual_board(cell)
    variables = prepared_variables(cell, driver, entry)
    folder, inputs = snapshot_folder(cell, board, variables)

    def build() -> None:
        with (
            artifacts.whole(folder, "save a snapshot", scratch.PRIVATE) as part,
            prepared_board(board, variables, part / "ram") as (login, machine, monitor),
            step("save the snapshot"),
        ):
            board.save(login, machine, monitor, part)
            snapshot.write(part, inputs)

    return ensure(folder, inputs, "prepare a board and save its snapshot", build)


def known_sequence() -> bytes:
    """Return the script of a known sequence of writes and syncs."""
    return board_scripts([KNOWN_SEQUENCE])[KNOWN_SEQUENCE]


def prove(cell: Cell, watched: Path, files: Mapping[str, bytes], board: VirtualBoard) -> None:
    """Run a known sequence from a watched snapshot; LabError unless the probes record it correctly."""
    from analysis.adapters.known_sequence import read as read_known
    from analysis.instrument import probe_selftest

    output = board.run_cell(watched, {**files, "run-cell.sh": known_sequence()}, KNOWN_LIMIT_SECONDS)
    where = f"KERNEL={cell.kernel} FS={cell.fs}: a known sequence of writes and syncs"
    if output.failed:
        raise LabError(f"{where} failed: {output.text('run-cell.log').strip()}")
    kind = cell.profiles["fs"]["type"]
    with artifacts.work_folder() as work:
        output.extract(work)
        wrong = probe_selftest.wrong(
            read_known(work / "raw"),
            probe_files(cell.probes, kind),
            kind,
            journals_data="data=journal" in mount_options(cell).split(","),
            journalled=mkfs.journalled(cell),
        )
        if wrong:
            log = artifacts.CACHE / "log/known-sequence.tar"
            log.parent.mkdir(exist_ok=True)
            log.write_bytes(output.tar)
            raise LabError(
                f"{where} is not what the probes recorded: {'; '.join(wrong[:3])}"
                f"{f'; and {len(wrong) - 3} more' if len(wrong) > 3 else ''} (all that they did: {log})"
            )


def ensure_watched(cell: Cell, prepared: Path, files: Mapping[str, bytes], board: VirtualBoard) -> Path:
    """Return a prepared snapshot with the cell's probes attached; without probes the prepared one."""
    if not cell.probes:
        return prepared
    # only what watching depends on; the probes are part of the prepared board
    scripts = sorted(name for name in files if name == "watch.sh" or name.startswith("observer"))
    texts = [f"{name}\n{files[name].decode()}" for name in scripts]
    key = artifacts.hash_of(cell.probes, known_sequence().decode(), *texts)
    folder = prepared.with_name(f"{prepared.name}+{key}")
    inputs = {**snapshot.read_meta(prepared)["inputs"], "probes": cell.probes}

    def build() -> None:
        with artifacts.whole(folder, "save a snapshot with probes", scratch.PRIVATE) as part:
            board.attach(prepared, dict(files), part)
            snapshot.write(part, inputs)
            with step("count what the probes record of a known sequence"):
                prove(cell, part, files, board)

    return ensure(folder, inputs, "attach the probes and save a snapshot", build)
