"""`make experiment`: one cell, from its variables to its report."""

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath import ansible
from commitpath.cell import ROOT, canonical, cell_id, cell_name
from commitpath.errors import LabError
from commitpath.progress import step
from images import artifacts, qemu, snapshot
from images.board import Login, RunOutput, SnapshotError, VirtualBoard, make_keys

RESULTS = ROOT / "results"
MOUNTPOINT = "/mnt/target"
# Wall seconds after which a run counts as hung.
RUN_LIMIT_SECONDS = 3600


def prepared_variables(cell: Mapping[str, Any], driver: Path, board: Mapping[str, Any]) -> dict[str, Any]:
    """What provision.yml, prepare.yml and run.yml are told about a cell."""
    fs, device = cell["profiles"]["fs"], cell["profiles"]["device"]
    table = (
        f"--workload {cell['profiles']['workload']['table']} "
        f"--value-size {cell['value_size']} --page-size {cell['page_size']}"
    )
    return {
        **board,
        "board": cell["board"],
        "driver": str(driver),
        "device_driver": device["driver"],
        "device_size_mib": device["size_mib"],
        "device_parameters": " ".join(f"{k}={v}" for k, v in device["parameters"].items()),
        "fs_type": fs["type"],
        "mkfs_options": " ".join([*fs["mkfs"], cell["mkfs_options"]]).strip(),
        "mount_options": mount_options(cell),
        "mountpoint": MOUNTPOINT,
        "populate_options": f"--rows {cell['rows']} {table}",
        "rehearsal_options": f"--rows 0 {table}",
    }


def mount_options(cell: Mapping[str, Any]) -> str:
    """The filesystem's own options and the cell's, separated by commas."""
    extra = [cell["mount_options"]] if cell["mount_options"] else []
    return ",".join([*cell["profiles"]["fs"]["mount"], *extra])


def payload(
    cell: Mapping[str, Any], device: str, database: str = f"{MOUNTPOINT}/db/sample.db"
) -> dict[str, bytes]:
    """The files that a run needs on the board, below /run/commitpath."""
    driver_options = (
        f"--workload {cell['profiles']['workload']['driver_workload']} --database {database} "
        f"--rows {cell['rows']} --n {cell['n']} --value-size {cell['value_size']} --seed {cell['seed']} "
        f"--journal-mode {cell['profiles']['mode']['journal_mode']} --synchronous {cell['sync']} "
        f"--page-size {cell['page_size']} --cache-size {cell['cache_size']} "
        f"--wal-autocheckpoint {cell['autocheckpoint']} --journal-size-limit {cell['journal_limit']} "
        f"--checkpoint-every {cell['checkpoint_every']}"
    )
    name = Path(device).name
    variables = {
        "CLOCK": cell["clock"],
        "PROBES": cell["probes"],
        "BLKTRACE": "1" if cell["probes"] else "0",
        "DEVICE_NAME": name,
        "DEVICE_PARAMETERS": f"/sys/kernel/config/nullb/{name}",
        "FS_TYPE": cell["profiles"]["fs"]["type"],
        "MOUNTPOINT": MOUNTPOINT,
        "DRIVER_OPTIONS": driver_options,
    }
    files = {
        "cell.env": "".join(f"{k}={shlex.quote(v)}\n" for k, v in variables.items()).encode(),
        "run-cell.sh": (ansible.PLAYBOOKS / "board/run-cell.sh").read_bytes(),
    }
    for path in (ROOT / "probes").iterdir():
        if path.is_file() and path.suffix != ".md":
            files[f"probes/{path.name}"] = path.read_bytes()
    return files


def rehearsal(cell: Mapping[str, Any], device: str) -> dict[str, bytes]:
    """A payload that runs all that a run runs, on an empty database in memory."""
    from commitpath.cell import probe_names

    small = {**cell, "rows": 0, "n": 10, "probes": ",".join(probe_names())}
    return payload(small, device, "/run/commitpath/rehearsal.db")


def virtual_board(cell: Mapping[str, Any]) -> VirtualBoard:
    """The virtual board that a cell runs on."""
    keys = artifacts.CACHE / "keys"
    with artifacts.locked(keys):
        make_keys(keys)
    memory = qemu.BOARD_MEMORY_MIB + int(cell["profiles"]["device"]["size_mib"])
    return VirtualBoard(artifacts.image(), keys, memory, artifacts.CACHE / "vm")


def prepare(cell: Mapping[str, Any], login: Login | None, variables: Mapping[str, Any]) -> None:
    """provision.yml and prepare.yml on a board that answers."""
    log = artifacts.CACHE / "log"
    connection = login.ansible() if login else {}
    with step("provision the board"):
        ansible.play("provision.yml", {**variables, **connection}, log / "provision.json")
    with step("make, mount and populate the filesystem, rehearse"), tempfile.NamedTemporaryFile() as packed:
        write_tar(Path(packed.name), rehearsal(cell, variables["board_device"]))
        more = {**connection, "rehearsal": packed.name}
        ansible.play("prepare.yml", {**variables, **more}, log / "prepare.json")


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
    scripts = [path for path in scripts if path.name != "run-cell.sh"]
    inputs = {
        **{k: v for k, v in variables.items() if k != "driver"},
        "driver": Path(variables["driver"]).name,
        "image": board.image.name,
        "memory_mib": board.memory_mib,
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
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        with board.started("provision", part / "ram") as (login, machine, monitor):
            prepare(cell, login, variables)
            with step("save the snapshot"):
                board.save(login, machine, monitor, part)
                snapshot.write(part, inputs)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def ensure_snapshot(cell: Mapping[str, Any], driver: Path, entry: Mapping[str, Any]) -> Path:
    """The snapshot that a cell's runs start from, made if it is not there or not whole."""
    board = virtual_board(cell)
    variables = prepared_variables(cell, driver, entry)
    folder, inputs = snapshot_folder(cell, board, variables)
    if folder.exists() and (fault := snapshot.fault(folder)):
        print(f"the snapshot {folder.name} is made again: {fault}", file=sys.stderr)
        snapshot.remove(folder)
    return artifacts.ensure(
        folder,
        "prepare a board and save its snapshot",
        lambda: make_snapshot(cell, folder, inputs, board, variables),
        mib=board.memory_mib,
    )


def run_virtual(cell: Mapping[str, Any], driver: Path, entry: Mapping[str, Any]) -> RunOutput:
    """A run in virtual time: restore the prepared board, with the cell in it."""
    folder = ensure_snapshot(cell, driver, entry)
    files = payload(cell, entry["board_device"])
    try:
        with step("run the cell"):
            return virtual_board(cell).run_cell(folder, files, RUN_LIMIT_SECONDS)
    except SnapshotError as error:
        print(f"the snapshot {folder.name} is made again: {error}", file=sys.stderr)
        snapshot.remove(folder)
    folder = ensure_snapshot(cell, driver, entry)
    with step("run the cell"):
        return virtual_board(cell).run_cell(folder, files, RUN_LIMIT_SECONDS)


def run_over_ssh(
    cell: Mapping[str, Any], driver: Path, entry: Mapping[str, Any], login: Login | None
) -> RunOutput:
    """A run on a board that Ansible reaches: prepare, run, collect, and always tear down."""
    variables = {**prepared_variables(cell, driver, entry), **(login.ansible() if login else {})}
    log = artifacts.CACHE / "log"
    output, packed = log / f"out-{os.getpid()}.tar", log / f"payload-{os.getpid()}.tar"
    try:
        prepare(cell, None, variables)
        write_tar(packed, payload(cell, entry["board_device"]))
        begin = time.monotonic()
        with step("run the cell"):
            ansible.play(
                "run.yml", {**variables, "payload": str(packed), "output": str(output)}, log / "run.json"
            )
        return RunOutput(output.read_bytes(), 0.0, time.monotonic() - begin)
    finally:
        failed = sys.exc_info()[0] is not None
        output.unlink(missing_ok=True)
        packed.unlink(missing_ok=True)
        try:
            with step("tear down"):
                ansible.play("teardown.yml", variables, log / "teardown.json")
        except LabError as error:
            if not failed:
                raise
            # what failed first is what the user must hear
            print(f"commitpath: the board could not be torn down either: {error}", file=sys.stderr)


def write_tar(path: Path, files: Mapping[str, bytes]) -> None:
    """A tar that Ansible unpacks on the board."""
    import io
    import tarfile

    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def host_facts() -> dict[str, Any]:
    """What produced a run, from the host's side."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "commitpath_commit": commit.stdout.strip() or "not a git checkout",
        "host_kernel": platform.release(),
        "host_python": platform.python_version(),
    }


def store(cell: Mapping[str, Any], output: RunOutput, wall: float, facts: Mapping[str, Any]) -> Path:
    """Write a run's folder: cell.json, host.json, raw/; it appears only when whole."""
    run_id = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{os.getpid()}"
    folder = RESULTS / cell_name(cell) / run_id
    part = folder.with_name(f".{run_id}.part")
    part.mkdir(parents=True)
    try:
        (part / "cell.json").write_text(canonical(cell) + "\n")
        host = {
            **facts,
            "cell_id": cell_id(cell),
            "run_id": run_id,
            "wall_seconds": round(wall, 3),
            "restore_seconds": round(output.restore_seconds, 3),
            "run_seconds": round(output.run_seconds, 3),
        }
        (part / "host.json").write_text(json.dumps(host, indent=2, sort_keys=True) + "\n")
        output.extract(part)
        (part / "raw/run-cell.log").write_text(output.text("run-cell.log"))
        (part / "raw/run-cell.status").write_text(output.text("run-cell.status"))
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    latest = RESULTS / "latest"
    temporary = RESULTS / f".latest-{os.getpid()}"
    temporary.symlink_to(folder.relative_to(RESULTS))
    temporary.replace(latest)
    return folder


def run_once(cell: Mapping[str, Any]) -> Path:
    """One run of a cell, stored; its folder."""
    begin = time.monotonic()
    entry = ansible.board(cell["board"])
    driver = artifacts.driver(cell["sqlite"], artifacts.image())
    facts = host_facts()
    if entry["board_kind"] == "virtual":
        facts["qemu"] = qemu.qemu_version()
    if cell["clock"] == "virtual":
        output = run_virtual(cell, driver, entry)
    elif entry["board_kind"] == "virtual":
        with virtual_board(cell).started("real") as (login, _, _):
            output = run_over_ssh(cell, driver, entry, login)
    else:
        with artifacts.locked(artifacts.CACHE / f"board-{cell['board']}"):
            output = run_over_ssh(cell, driver, entry, None)
    folder = store(cell, output, time.monotonic() - begin, facts)
    if output.text("run-cell.status").strip() != "0":
        log = output.text("run-cell.log").strip().splitlines()
        raise LabError(f"the run failed: {log[-1] if log else 'no output'} (kept in {folder})")
    return folder


def experiment(cell: Mapping[str, Any], repeat: int) -> int:
    """Run a cell `repeat` times and report; the exit code."""
    from analysis.__main__ import main as analyse

    code = 0
    for number in range(repeat):
        if repeat > 1:
            print(f"run {number + 1} of {repeat}", file=sys.stderr)
        folder = run_once(cell)
        with step("check and analyse"):
            status = analyse([str(folder)])
        code = code or status
    return code
