"""What a board is told: variables of the playbooks, and the files that a run needs."""

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
from commitpath.cells.profiles import board_modules, kernel_profile, load_profile, watching
from commitpath.host import ansible
from images import artifacts, given, programs
from model import devices, filesystems, pace, userfile
from model.cell import Cell
from model.crash_points.policies import FSCK_EVERY, PROCESS
from model.expected_state import sampled
from model.requested import expected, mkfs, mount
from model.statements import sqlfile

MOUNTPOINT = "/mnt/target"
# The name of the device that a virtual board makes (playbooks/devices/).
DEVICE_NAME = "target"
# The cell's database, in a folder of its own.
DATABASE = "sample.db"
# What the driver wrote in the run of a board of trials (workloads/written.h).
WRITTEN = "written"
DROP_CACHES = "/proc/sys/vm/drop_caches"
# Where a run's files are on the board.
BOARD = "/run/commitpath"
# A rehearsal has so many transactions; those of a workload of a user's file are these, which also
# read what SQLite's functions of time do, and where a temporary file goes.
REHEARSED = 10
REHEARSED_SQL = "SELECT datetime('now', 'localtime'), abs(random()) >= 0;\n" * (REHEARSED - 1) + (
    "CREATE TEMP TABLE large AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 2000) SELECT i, randomblob(1500) FROM n;\n"
)
# Transactions of more bytes are on the board when it is prepared, and have a snapshot of their own: others go
# there with the cell (images/qemu.py, CELL_ITEM_BYTES), beside scripts of 30 KB.
MOST_WITH_CELL = 192 * 2**10
# What runs a cell on the board; sent with each run.
RUN_SCRIPTS = ("run-cell.sh", "watch.sh", "observer.sh")
# What prepares a device on the board, with what filesystem_scripts gives.
PREPARE_SCRIPTS = (
    *("format_device.py", "proof.py", "devices.py", "tables.py", "openers.py", "loops.py", "members.py"),
    *("filesystem.sh", "needs.sh", "check-parts.sh", "changes.sh"),
)
# A BPF program's section says what it is attached to (probes/probe.h).
PROGRAM = re.compile(r'^SEC\((?:"tp_btf/|ENTRY "|RETURN ")', re.M)


def all_probes() -> list[str]:
    """The files of all probes: those of every filesystem."""
    return sorted({*probe_names(), *filesystems.names()} - {FILESYSTEM})


def expected_probes(names: Iterable[str]) -> int:
    """How many programs the recorder must attach for these files of probes/."""
    files = [ROOT / "probes" / f"{name}.bpf.c" for name in names]
    return sum(len(PROGRAM.findall(file.read_text())) for file in files)


def prepared_variables(cell: Cell, driver: Path, board: Mapping[str, Any]) -> dict[str, Any]:
    """What provision.yml, prepare.yml and run.yml are told about a cell."""
    fs, device = cell.profiles["fs"], cell.profiles["device"]
    mkfs_words = mkfs.words(fs["type"], " ".join([*fs["mkfs"], cell.mkfs_options]))
    # a virtual board's runs may have any filesystem and any observer, if its kernel can be watched at all; a
    # lab board, and a user's kernel, need only have its cell's
    kernel = kernel_profile(cell)
    any_cell = cell.board == "virtual" and not given.kind_of(kernel)
    known = observers.on_board(cell.probes.split(","))
    there = known if any_cell else watching(cell)
    if kernel.get("unwatched") or kernel.get("no_modules"):
        there = []
    probes = all_probes() if any_cell else probe_files(cell.probes, fs["type"])
    return {
        **board,
        "board": cell.board,
        "owner": owner(board["board_kind"], cell.board),
        "driver": str(driver),
        "trials": str(programs.trials(cell)) if has_trials(cell) else "",
        "probes": str(artifacts.probes()) if there else "",
        "filesystems": " ".join(filesystems.names() if any_cell else [fs["type"]]),
        "observers": " ".join(there),
        "scripted": known,
        "all_probes": ",".join(probes) if there else "",
        "modules": [str(path) for path in modules(cell, there)],
        "board_modules": [str(path) for path in built_for(cell, board_modules(cell))],
        "device_driver": device["driver"],
        "device_size_mib": device["size_mib"],
        "device_parameters": " ".join(f"{k}={v}" for k, v in device["geometry"].items()),
        "fs_type": fs["type"],
        "fs_signatures": json.dumps(filesystems.signatures()),
        "mkfs_options": json.dumps(mkfs_words),
        "mkfs_allowed": json.dumps(mkfs.patterns(fs["type"])),
        "mount_options": mount_options(cell),
        "mount_allowed": json.dumps(mount.patterns(fs["type"])),
        "mountpoint": MOUNTPOINT,
        **({"persistent_folder": persistent_memory.MOUNTPOINT} if persistent_memory.asked(cell) else {}),
        "load_script": cell.load,
        **(populated(cell) if cell.load == identity.DRIVER else for_command(cell)),
        "rehearsal_cell": rehearsal(cell),
    }


def has_trials(cell: Cell) -> bool:
    """Whether a board of such cells can show what a failure leaves (docs/explanation/durability.md), asked
    for or not: so
    cells that differ in CRASH alone start from the same bytes, but on a device that shows no past states."""
    return (
        cell.board == "virtual"
        and cell.load == identity.DRIVER
        and (cell.crash == PROCESS or devices.by_name(cell.profiles["device"]["driver"]).history is not None)
        and bool(programs.trials_folders(cell.engine))
    )


def populated(cell: Cell) -> dict[str, Any]:
    """What the driver is told of the table that it makes, and of the rehearsal's."""
    table = (
        f"--workload {cell.profiles['workload']['table']} --value-size {cell.value_size}"
        + engine_options(cell, load_profile("engine", cell.engine)["populate"])
    )
    of_file = {}
    if cell.profiles["workload"].get("file"):
        table += f" --file {BOARD}/schema{databases_option(cell)}"
        schema, transactions = packed(cell)
        of_file = {"schema": schema}
        if len(transactions) > MOST_WITH_CELL:
            of_file["transactions"] = transactions
    return {
        "populate_options": f"--rows {cell.rows} {table}",
        "rehearsal_options": f"--rows 0 {table}",
        **of_file,
    }


def databases_option(cell: Cell) -> str:
    """What the driver is told of the number of databases, after a blank; of one nothing."""
    count = userfile.databases(cell.profiles.get("file", {}))
    return f" --databases {count}" if count > 1 else ""


def packed(cell: Cell) -> tuple[bytes, bytes]:
    """What makes the database of a cell's file, and its transactions, as the driver reads them."""
    try:
        parts = userfile.parts(cell.profiles["file"])
    except sqlfile.SqlFileError as error:
        # a user's file was read before
        raise BadInputError(f"experiments/workload/{cell.workload}.yml: {error}") from error
    timed = cell.pace == pace.RECORDED
    return sqlfile.pack(parts.schema), sqlfile.pack(parts.transactions, timed)


def for_command(cell: Cell) -> dict[str, Any]:
    """The files that a command is given, name → SHA-256, which artifacts.kept has, and what notes engines'
    transactions in it, name → artefact."""
    noted = {name: path.name for name, path in programs.preloads().items()}
    return {
        "populate_options": "",
        "rehearsal_options": "",
        "given": dict(cell.files),
        "preloads": noted,
    }


def load_script(kind: str) -> bytes:
    """What a board does for a load (playbooks/loads/)."""
    return (ansible.PLAYBOOKS / "loads" / f"{kind}.sh").read_bytes()


def modules(cell: Cell, of_observers: Iterable[str]) -> list[Path]:
    """The kernel modules of ours that a cell's board has: its device's, and those of observers; a lab board
    has none."""
    if cell.board != "virtual":
        return []
    device = artifacts.IMAGES / "devices" / cell.profiles["device"]["driver"]
    return built_for(cell, [device, *(ROOT / "probes" / name for name in of_observers)])


def built_for(cell: Cell, parts: Iterable[Path]) -> list[Path]:
    """The kernel modules of some parts, built for a cell's kernel; many parts have none."""
    built = [artifacts.module(part, kernel_profile(cell)) for part in parts]
    return [path for path in built if path]


def owner(kind: str, board: str) -> str:
    """Who uses a lab board: this host, and who has the lock of lab.held, in one word.

    So whoever has the lock, and finds that the board is its own already, knows that nobody is at work.
    A virtual board has no other user.
    """
    if kind == "virtual":
        return ""
    locks = hashlib.sha256(f"{ROOT}\0{artifacts.CACHE}\0{board}".encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()) + f"-{locks}"


def mount_options(cell: Cell) -> str:
    """The filesystem's own options and the cell's, separated by commas."""
    extra = [cell.mount_options] if cell.mount_options else []
    return ",".join([*cell.profiles["fs"]["mount"], *extra])


def payload(cell: Cell, trials: bool = False) -> dict[str, bytes]:
    """The files that a run needs on the board, below /run/commitpath. trials: on a board of trials, which has
    two more (commitpath/run/crash_trials.py)."""
    environment = cell_env(cell, f"{MOUNTPOINT}/db/{DATABASE}", trials).encode()
    files = {"cell.env": environment, "load.sh": load_script(cell.load)}
    files |= {**run_scripts(), **scripts_of(watching(cell))}
    own_scripts = cell.profiles.get("observers", {})
    for name in own_scripts.keys() & set(watching(cell)):
        files[f"observers/{name}{observers.scripted()[name]}"] = own_scripts[name].encode()
    if "file" in cell.profiles:
        _, transactions = packed(cell)
        if len(transactions) <= MOST_WITH_CELL:
            files["transactions"] = transactions
    return files


def cell_env(cell: Cell, database: str, trials: bool = False) -> str:
    """What the scripts of a run are told: NAME=value, a line each. A command's folder is the database's."""
    device = cell.profiles["device"]
    files = probe_files(cell.probes, cell.profiles["fs"]["type"])
    variables = {
        "STEPS": " ".join(f"{name}:{ends}" for name, ends in expected.steps(cell, trials).items()),
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
    if trials:
        variables["SAMPLED"] = ",".join(map(str, sampled.numbers(cell, cell.cuts)))
    if cell.crash not in ("none", PROCESS):
        variables["DEVICE_HISTORY"] = "1"
        if trials:
            variables |= trials_env(cell)
            variables["DRIVER_OPTIONS"] += f" --written {BOARD}/{WRITTEN}"
    # DEVICE_NAME: of the device that was proved and formatted (format_device.py)
    proved = ". /run/commitpath/device.env\n"
    return "".join(f"{k}={shlex.quote(v)}\n" for k, v in variables.items()) + proved


def trials_env(cell: Cell) -> dict[str, str]:
    """What a board of trials is told besides."""
    history = devices.by_name(cell.profiles["device"]["driver"]).history
    return {
        "DEVICE_CONTROL": history(DEVICE_NAME) if history else "",
        "MOUNT_OPTIONS": mount_options(cell),
        "FSCK": filesystems.by_name(cell.profiles["fs"]["type"]).fsck,
        "FSCK_EVERY": str(FSCK_EVERY),
    }


def rehearsed_trials(cell: Cell) -> str:
    """What a rehearsal is told besides on a board that may be one of trials."""
    fsck = filesystems.by_name(cell.profiles["fs"]["type"]).fsck
    return f'FSCK={shlex.quote(fsck)}\nSTEPS="$STEPS rehearse-trials:ok"\n'


def driver_env(cell: Cell, database: str) -> dict[str, str]:
    """What the driver is told."""
    engine = load_profile("engine", cell.engine)
    driver_options = (
        f"--workload {cell.profiles['workload']['driver_workload']} --database {database} "
        f"--rows {cell.rows} --n {cell.n} --value-size {cell.value_size} --seed {cell.seed} "
        f"--checkpoint-every {cell.checkpoint_every} --pace-ns {pace.interval_ns(cell.pace)}"
        f"{engine_options(cell, engine['settings'])}"
    )
    if cell.cache != "warm":
        driver_options += f" --drop-caches {DROP_CACHES}"
    if persistent_memory.asked(cell):
        driver_options += f" --persistent-memory {persistent_memory.MOUNTPOINT}"
    if cell.profiles["workload"].get("file"):
        driver_options += f" --file {BOARD}/{'transactions' if 'file' in cell.profiles else 'rehearsal'}"
        driver_options += databases_option(cell)
    if phases := cell.profiles["workload"].get("phases"):
        driver_options += f" --phases {','.join(phases)}"
    watched = " ".join(engine["watched"])
    # the moments of kills are told by the engine's calls, and those of cuts by what it calls in persistent
    # memory, so each run of such a cell notes them
    if cell.crash == PROCESS or (cell.crash != "none" and persistent_memory.asked(cell)):
        return {"DRIVER_OPTIONS": f"{driver_options} {watched}", "WATCHED_OPTIONS": ""}
    return {"DRIVER_OPTIONS": driver_options, "WATCHED_OPTIONS": watched}


def engine_options(cell: Cell, names: Iterable[str]) -> str:
    """Some of the driver's options of the cell's engine with their values, each after a blank."""
    axis_of = load_profile("engine", cell.engine)["settings"]
    return "".join(f" --{name} {cell.value(axis_of[name])}" for name in names)


def run_scripts() -> dict[str, bytes]:
    """The scripts of a run by name."""
    return {name: (ansible.PLAYBOOKS / "board" / name).read_bytes() for name in RUN_SCRIPTS}


def observer_scripts(names: Iterable[str]) -> list[Path]:
    """What observers do on a board: each one's script, and what else is called after it."""
    return [path for name in names for path in sorted((ansible.PLAYBOOKS / "observers").glob(f"{name}.*"))]


def scripts_of(names: Iterable[str]) -> dict[str, bytes]:
    """The same, as a board has them."""
    return {f"observers/{path.name}": path.read_bytes() for path in observer_scripts(names)}


def filesystem_scripts() -> list[Path]:
    """What a board does with each filesystem."""
    return sorted(path for path in (ansible.PLAYBOOKS / "filesystems").iterdir() if path.is_file())


def device_script(driver: str) -> Path:
    """What a board does with a device of that driver."""
    return ansible.PLAYBOOKS / "devices" / f"{driver}.sh"


def texts(variables: Mapping[str, Any]) -> dict[str, bytes]:
    """What a board that is prepared gets of a file's SQL, below /run/commitpath; of no other workload any."""
    if "schema" not in variables:
        return {}
    rehearsed = sqlfile.read(REHEARSED_SQL).transactions
    own = {name: variables[name] for name in ("schema", "transactions") if name in variables}
    return {**own, "rehearsal": sqlfile.pack(rehearsed)}


def rehearsal(cell: Cell) -> str:
    """cell.env of a run of all phases that nobody watches, on an empty database in memory.

    Of the cell it takes only what its snapshot is for: the axes that cells of one snapshot
    differ in are the default ones, and the device keeps its time.
    """
    if cell.load == identity.COMMAND:
        device = {**cell.profiles["device"], "timing": {}}
        idle = replace(cell, command=":", probes="", profiles={**cell.profiles, "device": device})
        return cell_env(idle, "/run/commitpath/rehearsal.db")
    default = make_cell({})
    kept = ("board", "clock", "kernel", "fs", "engine", "workload", "value_size", "page_size")
    profiles = {
        **default.profiles,
        "fs": cell.profiles["fs"],
        "workload": {key: value for key, value in cell.profiles["workload"].items() if key != "phases"},
        "device": {**cell.profiles["device"], "timing": {}},
    }
    taken = {axis: cell.value(axis) for axis in kept}
    small = replace(default, **taken, rows=0, n=REHEARSED, probes="", profiles=profiles)
    environment = cell_env(small, "/run/commitpath/rehearsal.db")
    # what a board of trials reads of its root disk, too
    return environment + (rehearsed_trials(cell) if has_trials(cell) else "")


def board_files(variables: Mapping[str, Any]) -> dict[str, bytes]:
    """What a board needs whatever its database, below /run; first of all, that the folder is ours."""
    files = {"made-by-commitpath": variables["owner"].encode()}
    if variables["probes"]:
        with tarfile.open(variables["probes"]) as tar:
            for member in tar:
                if file := tar.extractfile(member):
                    files[f"bin/{member.name}"] = file.read()
    if variables["board_kind"] == "virtual":
        files["await-cell.sh"] = (artifacts.IMAGES / "await-cell.sh").read_bytes()
        files["check-cmdline.sh"] = (ansible.PLAYBOOKS / "board/check-cmdline.sh").read_bytes()
        files |= {Path(module).name: Path(module).read_bytes() for module in variables["modules"]}
        files["load-modules.sh"] = (ansible.PLAYBOOKS / "board/load-modules.sh").read_bytes()
        files |= {
            f"modules/{Path(module).name}": Path(module).read_bytes() for module in variables["board_modules"]
        }
    else:
        files |= lab_board.board_scripts()
    files |= run_scripts()
    files |= {name: (ansible.PLAYBOOKS / "board" / name).read_bytes() for name in PREPARE_SCRIPTS}
    files |= {f"filesystems/{path.name}": path.read_bytes() for path in filesystem_scripts()}
    driver = device_script(variables["device_driver"])
    files |= {"device.sh": (ansible.PLAYBOOKS / "board/device.sh").read_bytes()}
    files |= {f"devices/{driver.name}": driver.read_bytes()}
    files |= scripts_of(variables["scripted"])
    return {f"commitpath/{name}": content for name, content in files.items()}


def write_self_extracting(path: Path, files: Mapping[str, bytes]) -> None:
    """A script with a tar behind it, which it unpacks on the board (playbooks/board/unpack.sh)."""
    path.write_bytes((ansible.PLAYBOOKS / "board/unpack.sh").read_bytes() + tar_of(files))


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """A tar of these files; what is in a folder `bin` can be executed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o755 if "bin" in name.split("/")[:-1] else 0o644
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()
