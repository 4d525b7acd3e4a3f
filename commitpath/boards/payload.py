"""Make the files sent to a board (scripts, cell.env with driver options, SQL) and its playbook variables."""

import contextlib
import hashlib
import io
import json
import re
import shlex
import socket
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from base import identity
from base.errors import BadInputError
from base.paths import ROOT
from commitpath.boards import lab_board
from commitpath.cells import observers, persistent_memory
from commitpath.cells.axes import FILESYSTEM, probe_files, probe_names
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import (
    board_modules,
    common_filesystems,
    kernel_profile,
    load_profile,
    unlogged_by,
    watching,
)
from commitpath.host import ansible
from images import artifacts, given, programs
from model import devices, engines, filesystems, pace, userfile, workloads
from model.cell import Cell
from model.crash_points.policies import FAULT, PROCESS
from model.expected_state import sampled
from model.requested import expected, mkfs, mount
from model.statements import sqlfile
from model.workloads import requests

MOUNTPOINT = "/mnt/target"
# Axes of a mix of operations that the rows before a run depend on.
OF_RECORDS = ("insert_order", "value_size_distribution")
# Name of a virtual board's device (playbooks/devices/).
DEVICE_NAME = "target"
# The cell's database, in a folder of its own.
DATABASE = "sample.db"
# The driver's record of its writes on a board of trials (workloads/written.h).
WRITTEN = "written"
# fsck checks the first of a board's trials, and every tenth after it.
FSCK_EVERY = 10
DROP_CACHES = "/proc/sys/vm/drop_caches"
# The folder of a run's files on the board.
BOARD = "/run/commitpath"
# A host's own id; a container has none, but its host's id of this boot.
MACHINE_IDS = (Path("/etc/machine-id"), Path("/proc/sys/kernel/random/boot_id"))
# Transactions of a rehearsal.
REHEARSED = 10
# The mix of the rehearsal for any mix of operations, so that they share snapshots.
REHEARSED_MIX = {"insert": 50, "update": 25, "read": 25}
# The rehearsal for a user's file: it also loads what SQLite's time functions and temporary files need.
REHEARSED_SQL = "SELECT datetime('now', 'localtime'), abs(random()) >= 0;\n" * (REHEARSED - 1) + (
    "CREATE TEMP TABLE large AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 2000) SELECT i, randomblob(1500) FROM n;\n"
)
REHEARSED_REQUESTS = f"{requests.FIRST}\n" + "".join(
    f"insert {key} x\nread {key}\n" for key in range(REHEARSED // 2)
)
# Longer transactions are part of the prepared board, with a snapshot of their own; others are sent with the
# cell (images/qemu.py, CELL_ITEM_BYTES) and 30 KB of scripts.
MOST_WITH_CELL = 192 * 2**10
# Scripts that run a cell; sent with each run.
RUN_SCRIPTS = ("run-cell.sh", "watch.sh", "observer.sh")
# Scripts that prepare a device, with those of filesystem_scripts.
PREPARE_SCRIPTS = (
    *("format_device.py", "proof.py", "devices.py", "tables.py", "openers.py", "loops.py", "members.py"),
    *("filesystem.sh", "needs.sh", "check-parts.sh", "changes.sh"),
)
# The section of a BPF program that is attached (probes/probe.h).
PROGRAM = re.compile(r'^SEC\((?:"tp_btf/|ENTRY "|RETURN ")', re.M)


def all_probes(*kinds: str) -> list[str]:
    """Return the files of all probes, with those of every board's filesystems and of these."""
    return sorted({*probe_names(), *common_filesystems(), *kinds} - {FILESYSTEM})


def expected_probes(names: Iterable[str]) -> int:
    """Return the number of programs that the recorder must attach for these files of probes/."""
    files = [ROOT / "probes" / f"{name}.bpf.c" for name in names]
    return sum(len(PROGRAM.findall(file.read_text())) for file in files)


def provisioned_variables(cell: Cell, board: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a cell for provision.yml."""
    fs, device = cell.profiles["fs"], cell.profiles["device"]
    # a virtual board serves any filesystem and observer, if its kernel can be watched at all; a lab board
    # and a user's kernel only those of the cell
    kernel = kernel_profile(cell)
    any_cell = cell.board == "virtual" and not given.kind_of(kernel)
    scripted = observers.on_board(cell.probes.split(","))
    usable = scripted if any_cell else watching(cell)
    if kernel.get("unwatched") or kernel.get("no_modules"):
        usable = []
    kinds = sorted({*common_filesystems(), fs["type"]}) if any_cell else [fs["type"]]
    probes = all_probes(fs["type"]) if any_cell else probe_files(cell.probes, fs["type"])
    return {
        **board,
        "board": cell.board,
        # part of the snapshots' keys, as all variables of a board; the first board's keys do not have it
        **({"board_number": cell.board_number} if cell.board_number != 1 else {}),
        "owner": owner(board["board_kind"], cell.board),
        "probes": str(artifacts.probes()) if usable else "",
        "filesystems": " ".join(kinds),
        "observers": " ".join(usable),
        "scripted": scripted,
        "all_probes": ",".join(probes) if usable else "",
        "modules": [str(path) for path in modules(cell, usable)],
        "board_modules": [str(path) for path in built_for(cell, board_modules(cell))],
        # Parts of a device's profile: geometry makes the device when the board is provisioned. Each run sets
        # timing (DEVICE_TIMING in cell_env), so that cells that differ in it share a snapshot. Only the host
        # uses `ignores` (model/crash_points/durable.py).
        "device_driver": device["driver"],
        "device_size_mib": device["size_mib"],
        "device_parameters": " ".join(f"{k}={v}" for k, v in device["geometry"].items()),
        "mountpoint": MOUNTPOINT,
        **({"persistent_folder": persistent_memory.MOUNTPOINT} if persistent_memory.use(cell) else {}),
    }


def prepared_variables(cell: Cell, driver: Path, board: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a cell for provision.yml, prepare.yml and run.yml."""
    fs = cell.profiles["fs"]
    mkfs_words = mkfs.words(fs["type"], " ".join([*fs["mkfs"], cell.mkfs_options]))
    return {
        **provisioned_variables(cell, board),
        "driver": str(driver),
        "trials": str(programs.trials(cell)) if has_trials(cell) else "",
        "fs_type": fs["type"],
        "fs_signatures": json.dumps(filesystems.signatures()),
        "mkfs_options": json.dumps(mkfs_words),
        "mkfs_allowed": json.dumps(mkfs.patterns(fs["type"])),
        "mount_options": mount_options(cell),
        "mount_allowed": json.dumps(mount.patterns(fs["type"])),
        "load_script": cell.load,
        **populated(cell),
        "rehearsal_cell": rehearsal(cell),
    }


def has_trials(cell: Cell) -> bool:
    """Return whether a board of such cells can run crash trials (docs/explanation/durability.md).

    Every such board has the programs of trials. So cells that differ only in CRASH start from the same bytes,
    unless the device shows no past states.
    """
    return (
        cell.board == "virtual"
        and cell.load == identity.DRIVER
        and (cell.crash == PROCESS or devices.by_name(cell.profiles["device"]["driver"]).history is not None)
        and bool(programs.trials_folders(cell.engine))
    )


def populated(cell: Cell) -> dict[str, Any]:
    """Return the driver's options for its table and the rehearsal's; for a command its files and preloads."""
    if cell.load != identity.DRIVER:
        return {
            "populate_options": "",
            "rehearsal_options": "",
            # name → SHA-256, of artifacts.kept
            "given": dict(cell.files),
            # name → artefact
            "preloads": {name: path.name for name, path in programs.preloads().items()},
        }
    table = (
        f"--workload {cell.profiles['workload']['table']} --value-size {cell.value_size}"
        + mix_options(cell, OF_RECORDS)
        + engine_options(cell, load_profile("engine", cell.engine)["populate"])
    )
    of_file = {}
    if cell.profiles["workload"].get("file"):
        table += f" --file {BOARD}/schema{databases_option(cell)}"
        schema, transactions = packed(cell)
        of_file = {"schema": schema, "rehearsal": rehearsed_file(cell)}
        if len(transactions) > MOST_WITH_CELL:
            of_file["transactions"] = transactions
    return {
        "populate_options": f"--rows {cell.rows} {table}",
        "rehearsal_options": f"--rows 0 {table}",
        **of_file,
    }


def mix_options(cell: Cell, names: Iterable[str]) -> str:
    """Return these options of a mix of operations, each after a blank; empty for another workload."""
    if "mix" not in cell.profiles["workload"]:
        return ""
    return "".join(f" --{name.replace('_', '-')} {cell.value(name)}" for name in names)


def databases_option(cell: Cell) -> str:
    """Return the driver's option for several databases, after a blank; empty for one."""
    count = userfile.databases(cell.profiles.get("file", {}))
    return f" --databases {count}" if count > 1 else ""


def packed(cell: Cell) -> tuple[bytes, bytes]:
    """Return the schema and the transactions of a cell's file, in the driver's format.

    Those of a trace of requests are the rows before the run, and its transactions.
    """
    if text := workloads.options(cell).requests:
        made = requests.read(text)
        return requests.pack((one,) for one in made.rows), requests.pack(made.transactions)
    try:
        parts = userfile.parts(cell.profiles["file"])
    except sqlfile.SqlFileError as error:
        # a user's file was checked earlier
        raise BadInputError(f"experiments/workload/{cell.workload}.yml: {error}") from error
    timed = cell.pace == pace.RECORDED
    return sqlfile.pack(parts.schema), sqlfile.pack(parts.transactions, timed)


def rehearsed_file(cell: Cell) -> bytes:
    """Return what a rehearsal executes instead of the transactions of a cell's file."""
    if workloads.options(cell).requests:
        return requests.pack(requests.read(REHEARSED_REQUESTS).transactions)
    return sqlfile.pack(sqlfile.read(REHEARSED_SQL).transactions)


def load_script(kind: str) -> bytes:
    """Return the script of a load (playbooks/loads/)."""
    return (ansible.PLAYBOOKS / "loads" / f"{kind}.sh").read_bytes()


def modules(cell: Cell, names: Iterable[str]) -> list[Path]:
    """Return our kernel modules for a cell's device and these observers; none for a lab board."""
    if cell.board != "virtual":
        return []
    device = artifacts.IMAGES / "devices" / cell.profiles["device"]["driver"]
    return built_for(cell, [device, *(ROOT / "probes" / name for name in names)])


def built_for(cell: Cell, parts: Iterable[Path]) -> list[Path]:
    """Return the kernel modules in these folders, built for a cell's kernel; most folders have none."""
    built = [artifacts.module(part, kernel_profile(cell)) for part in parts]
    return [path for path in built if path]


def owner(kind: str, board: str) -> str:
    """Return the user of a lab board in one word: this host, and a hash of its id and the lock's place.

    A holder of the lock that finds itself as the board's owner knows that nobody else is at work. A virtual
    board has no other user.
    """
    if kind == "virtual":
        return ""
    place = f"{machine_id()}\0{ROOT}\0{artifacts.CACHE}\0{board}"
    locks = hashlib.sha256(place.encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()) + f"-{locks}"


def machine_id() -> str:
    """Return this host's id: two hosts may have one name, and checkouts at one path."""
    for path in MACHINE_IDS:
        with contextlib.suppress(OSError):
            if re.fullmatch("[0-9a-f]{32}", text := path.read_text().strip().replace("-", "")):
                return text
    return ""


def mount_options(cell: Cell) -> str:
    """Return the mount options of the filesystem's profile and of the cell, separated by commas."""
    return ",".join(filter(None, [*cell.profiles["fs"]["mount"], cell.mount_options]))


def payload(cell: Cell, trials: bool = False) -> dict[str, bytes]:
    """Return a run's files on the board, below /run/commitpath. trials: for a board of trials."""
    environment = cell_env(cell, f"{MOUNTPOINT}/db/{DATABASE}", trials).encode()
    files = {"cell.env": environment, "load.sh": load_script(cell.load)}
    files |= {**board_scripts(RUN_SCRIPTS), **scripts_of(watching(cell))}
    for name, script in cell.profiles.get("observers", {}).items():
        if name in watching(cell):
            files[f"observers/{name}{observers.scripted()[name]}"] = script.encode()
    if "file" in cell.profiles:
        _, transactions = packed(cell)
        if len(transactions) <= MOST_WITH_CELL:
            files["transactions"] = transactions
    return files


def cell_env(cell: Cell, database: str, trials: bool = False) -> str:
    """Return cell.env, the variables of a run's scripts: NAME=value lines."""
    device = cell.profiles["device"]
    files = probe_files(cell.probes, cell.profiles["fs"]["type"])
    cut = cell.crash not in ("none", PROCESS)
    exact = re.search(filesystems.by_name(cell.profiles["fs"]["type"]).exact, mount_options(cell)) is not None
    # an exact run gets the options of its boards of trials, as their length changes what it executes
    as_tried = trials or (cut and exact)
    variables = {
        # a board gets the step of trials with its plan (commitpath/run/crash_trials.py)
        "STEPS": " ".join(
            f"{name}:{ends}" for name, ends in expected.steps(cell, trials).items() if name != expected.TRIALS
        ),
        "CLOCK": cell.clock,
        "PROBES": ",".join(files),
        "OBSERVERS": " ".join(watching(cell)),
        "EXPECTED_PROBES": str(expected_probes(files)),
        "DEVICE_DRIVER": device["driver"],
        "DEVICE_TIMING": " ".join(f"{k}={v}" for k, v in device["timing"].items()),
        "FS_TYPE": cell.profiles["fs"]["type"],
        "MOUNTPOINT": MOUNTPOINT,
        "DATABASE_FOLDER": str(PurePosixPath(database).parent),
    }
    if cell.load == identity.COMMAND:
        variables["COMMAND"] = cell.command
    else:
        variables |= driver_env(cell, database)
    if as_tried:
        variables["SAMPLED"] = ",".join(map(str, sampled.numbers(cell, cell.cuts)))
    if cut:
        engine = engines.by_name(cell.engine)
        if engine.WRITES_ON_OPEN and not exact:
            variables["DRIVER_OPTIONS"] += " --record-opening"
        if as_tried:
            variables |= trials_env(cell)
        if cell.crash != FAULT:
            variables["DEVICE_HISTORY"] = "1"
            # Recording takes time, so an exact repetition has none, unless trials need what memory held.
            recorded = trials and (not exact or persistent_memory.use(cell))
            if recorded and engine.LOGS_CALLS and not unlogged_by(cell):
                variables["DRIVER_OPTIONS"] += f" --written {BOARD}/{WRITTEN}"
        # opening may write, and what the filesystem makes of that depends on ticks of its clock
        variables["DRIVER_OPTIONS"] += " --open-on-second"
    # DEVICE_NAME of the device that format_device.py verified and formatted
    proved = ". /run/commitpath/device.env\n"
    return "".join(f"{k}={shlex.quote(v)}\n" for k, v in variables.items()) + proved


def trials_env(cell: Cell) -> dict[str, str]:
    """Return further variables of a board of trials."""
    history = devices.by_name(cell.profiles["device"]["driver"]).history
    return {
        "DEVICE_CONTROL": history(DEVICE_NAME) if history else "",
        "MOUNT_OPTIONS": mount_options(cell),
        "FSCK": filesystems.by_name(cell.profiles["fs"]["type"]).fsck,
        "FSCK_EVERY": str(FSCK_EVERY),
    }


def driver_env(cell: Cell, database: str) -> dict[str, str]:
    """Return the driver's options. database: its path on the board."""
    engine = load_profile("engine", cell.engine)
    driver_options = (
        f"--workload {cell.profiles['workload']['driver_workload']} --database {database} "
        f"--rows {cell.rows} --n {cell.n} --value-size {cell.value_size} --seed {cell.seed} "
        f"--checkpoint-every {cell.checkpoint_every} --pace-ns {pace.interval_ns(cell.pace)}"
        f"{engine_options(cell, engine['settings'])}"
        f"{mix_options(cell, [*OF_RECORDS, 'request_distribution', 'batch'])}"
    )
    if mix := workloads.mix_option(cell.profiles["workload"]):
        driver_options += f" --mix {mix}"
    if cell.cache != "warm":
        driver_options += f" --drop-caches {DROP_CACHES}"
    if persistent_memory.use(cell):
        driver_options += f" --persistent-memory {persistent_memory.MOUNTPOINT}"
    if cell.profiles["workload"].get("file"):
        driver_options += f" --file {BOARD}/{'transactions' if 'file' in cell.profiles else 'rehearsal'}"
        driver_options += databases_option(cell)
    if phases := cell.profiles["workload"].get("phases"):
        driver_options += f" --phases {','.join(phases)}"
    watched = "" if unlogged_by(cell) else " ".join(engine["watched"])
    # kill points are calls of the engine, and cuts of persistent memory are calls there: each run logs them
    if cell.crash == PROCESS or (cell.crash != "none" and persistent_memory.use(cell)):
        return {"DRIVER_OPTIONS": f"{driver_options} {watched}", "WATCHED_OPTIONS": ""}
    return {"DRIVER_OPTIONS": driver_options, "WATCHED_OPTIONS": watched}


def engine_options(cell: Cell, names: Iterable[str]) -> str:
    """Return these options of the cell's engine with their values, each after a blank."""
    axis_of = load_profile("engine", cell.engine)["settings"]
    return "".join(f" --{name} {cell.value(axis_of[name])}" for name in names)


def board_scripts(names: Iterable[str]) -> dict[str, bytes]:
    """Return scripts of playbooks/board, by name."""
    return {name: (ansible.PLAYBOOKS / "board" / name).read_bytes() for name in names}


def observer_scripts(names: Iterable[str]) -> list[Path]:
    """Return the scripts of observers, and other files of their names."""
    return [path for name in names for path in sorted((ansible.PLAYBOOKS / "observers").glob(f"{name}.*"))]


def scripts_of(names: Iterable[str]) -> dict[str, bytes]:
    """Return the scripts of observers by their names on a board."""
    return {f"observers/{path.name}": path.read_bytes() for path in observer_scripts(names)}


def filesystem_scripts() -> list[Path]:
    """Return the scripts of all filesystems."""
    return sorted(path for path in (ansible.PLAYBOOKS / "filesystems").iterdir() if path.is_file())


def device_script(driver: str) -> Path:
    """Return the script of a device driver."""
    return ansible.PLAYBOOKS / "devices" / f"{driver}.sh"


def texts(variables: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of a user's FILE on a prepared board, below /run/commitpath; empty without one."""
    return {name: variables[name] for name in ("schema", "transactions", "rehearsal") if name in variables}


def rehearsal(cell: Cell) -> str:
    """Return cell.env of an unwatched run of all phases, on an empty database in memory.

    The axes in which cells of one snapshot differ are at their default, and the device has no timing.
    """
    if cell.load == identity.COMMAND:
        device = {**cell.profiles["device"], "timing": {}}
        idle = replace(cell, command=":", probes="", profiles={**cell.profiles, "device": device})
        return cell_env(idle, "/run/commitpath/rehearsal.db")
    default = make_cell({})
    kept = {"board", "clock", "kernel", "fs", "engine", "workload", "value_size", *OF_RECORDS}
    # the database was populated with these
    engine = load_profile("engine", cell.engine)
    kept |= {engine["settings"][name] for name in engine["populate"]}
    workload = dict(cell.profiles["workload"])
    if "mix" in workload:
        workload["mix"] = REHEARSED_MIX
    profiles = {
        **default.profiles,
        "fs": cell.profiles["fs"],
        "workload": {key: value for key, value in workload.items() if key != "phases"},
        "device": {**cell.profiles["device"], "timing": {}},
    }
    taken = {axis: cell.value(axis) for axis in kept}
    small = replace(default, **taken, rows=0, n=REHEARSED, probes="", profiles=profiles)
    environment = cell_env(small, "/run/commitpath/rehearsal.db")
    if has_trials(cell):
        # loads what a board of trials reads of its root disk
        fsck = filesystems.by_name(cell.profiles["fs"]["type"]).fsck
        environment += f'FSCK={shlex.quote(fsck)}\nSTEPS="$STEPS rehearse-trials:ok"\n'
    return environment


def board_files(variables: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of a provisioned board, below /run; the first marks the folder as ours."""
    files = {"made-by-commitpath": variables["owner"].encode()}
    if variables["probes"]:
        with tarfile.open(variables["probes"]) as tar:
            for member in tar:
                if file := tar.extractfile(member):
                    files[f"bin/{member.name}"] = file.read()
    if variables["board_kind"] == "virtual":
        files["await-cell.sh"] = (artifacts.IMAGES / "await-cell.sh").read_bytes()
        files |= board_scripts(("check-cmdline.sh", "load-modules.sh"))
        files |= {Path(module).name: Path(module).read_bytes() for module in variables["modules"]}
        for module in map(Path, variables["board_modules"]):
            files[f"modules/{module.name}"] = module.read_bytes()
    else:
        files |= board_scripts(lab_board.SCRIPTS)
    files |= board_scripts((*RUN_SCRIPTS, *PREPARE_SCRIPTS, "device.sh"))
    files |= {f"filesystems/{path.name}": path.read_bytes() for path in filesystem_scripts()}
    driver = device_script(variables["device_driver"])
    files[f"devices/{driver.name}"] = driver.read_bytes()
    files |= scripts_of(variables["scripted"])
    return {f"commitpath/{name}": content for name, content in files.items()}


def write_self_extracting(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a script followed by a tar, which it unpacks on the board (playbooks/board/unpack.sh)."""
    path.write_bytes((ansible.PLAYBOOKS / "board/unpack.sh").read_bytes() + tar_of(files))


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """Return a tar of these files; those in a folder `bin` are executable."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o755 if "bin" in name.split("/")[:-1] else 0o644
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()
