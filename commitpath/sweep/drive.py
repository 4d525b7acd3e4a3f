"""`make sweep`: plan, Snakemake, one progress line, and what became of each run."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from commitpath import ansible
from commitpath.cell import RESULTS, ROOT, axes
from commitpath.database import store, sync
from commitpath.errors import BadInputError, LabError
from commitpath.host import ensure_packages
from commitpath.sweep import plan
from commitpath.sweep.grid import Excluded, expand, names
from commitpath.sweep.plan import STATE, Planned
from commitpath.sweep.progress import Progress
from images.qemu import die_with_parent

OPTIONS = ("GRID", "JOBS", "RETRIES", "EXECUTOR")
EXECUTORS = ("local", "slurm")


def sweep(variables: dict[str, str]) -> int:
    """Run what is missing of the grids; exit code 1 when a run failed."""
    options = {name: variables.pop(name) for name in OPTIONS if name in variables}
    runs, excluded = planned(options, variables)
    jobs = whole_number(options, "JOBS", os.cpu_count() or 1, 1)
    retries = whole_number(options, "RETRIES", 1, 0)
    executor = options.get("EXECUTOR", "local")
    if executor not in EXECUTORS:
        raise BadInputError(f"EXECUTOR={executor}: EXECUTOR is {', '.join(EXECUTORS)}")
    for name in {run.cell["board"] for run in runs.values()}:
        board = ansible.board(name)
        if board["board_kind"] != "virtual" and any(
            run.cell["board"] == name and run.cell["clock"] == "virtual" for run in runs.values()
        ):
            raise BadInputError(f"BOARD={name} has a clock of its own; use CLOCK=real")
    with only_sweep():
        remove_leftovers()
        plan.write(runs, excluded)
        todo = plan.forget_stale(runs)
        if todo:
            ensure_packages()
            run_snakemake(runs, todo, jobs, retries, executor)
        with store.opened() as connection:
            sync.sync(connection)
            sync.write_grids(connection, runs.values(), excluded)
        return report(runs, excluded, todo)


def planned(
    options: Mapping[str, str], variables: dict[str, str]
) -> tuple[dict[str, Planned], list[Excluded]]:
    """The runs that GRID and the other variables ask for."""
    if not options.get("GRID"):
        raise BadInputError(f"make sweep takes GRID=<name>; there are {', '.join(names())}")
    repeats = None
    if "REPEAT" in variables:
        repeats = whole_number({"REPEAT": variables.pop("REPEAT")}, "REPEAT", 1, 1)
    known = {axis.variable for axis in axes().values()} - {"SEED"}
    for variable in variables:
        if variable not in known:
            raise BadInputError(
                f"{variable}: unknown variable; make sweep takes {', '.join(OPTIONS)}, REPEAT, and the axes "
                f"that its grid does not vary: {', '.join(sorted(known))}"
            )
    grids = re.split(r"[ ,]+", options["GRID"].strip())
    return plan.merge(expand(grid, variables, repeats) for grid in grids)


def whole_number(options: Mapping[str, str], name: str, default: int, least: int) -> int:
    """An option's number; BadInputError says what is allowed."""
    text = options.get(name, str(default))
    if not re.fullmatch(r"\d{1,4}", text) or int(text) < least:
        raise BadInputError(f"{name}={text}: {name} is a whole number from {least} to 9999")
    return int(text)


@contextlib.contextmanager
def only_sweep() -> Iterator[None]:
    """Hold the lock of results/'s sweeps; the kernel lets go of it when the holder dies."""
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LabError(f"another sweep is running in {RESULTS}; wait for its end or stop it") from error
        yield


def remove_leftovers() -> None:
    """Half-written folders of processes that are gone."""
    for part in RESULTS.glob("*/.*-*.part"):
        pid = part.name.removesuffix(".part").rpartition("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(part)


def snakemake_command(runs: Mapping[str, Planned], jobs: int, retries: int, executor: str) -> list[str]:
    """Snakemake's command line. Its own marks are not trusted after a kill: done/ is."""
    boards = {run.cell["board"] for run in runs.values()}
    labs = {name for name in boards if ansible.board(name)["board_kind"] == "lab"}
    units = {f"board_{name}": 1 if name in labs else jobs for name in sorted(boards)}
    # a lab board's job only waits, so it takes none of the cores
    number = jobs + len(labs)
    where = ["--cores"] if executor == "local" else ["--executor", executor, "--jobs"]
    return [
        str(Path(sys.executable).parent / "snakemake"),
        *("--snakefile", str(Path(__file__).with_name("Snakefile"))),
        *("--directory", str(STATE)),
        *where,
        str(number),
        *("--resources", *(f"{name}={count}" for name, count in units.items())),
        *("--scheduler", "greedy", "--rerun-triggers", "mtime", "--rerun-incomplete", "--nolock"),
        *("--keep-going", "--retries", str(retries)),
    ]


def run_snakemake(
    runs: Mapping[str, Planned], todo: Sequence[str], jobs: int, retries: int, executor: str
) -> None:
    """Run Snakemake to its end, showing progress; stop it and its jobs when told to stop."""
    for key in todo:
        (STATE / "failed" / key).unlink(missing_ok=True)
    groups = plan.with_bases(runs[key].group for key in todo)
    for group in groups:
        for kind in ("failed", "prepared"):
            (STATE / kind / group).unlink(missing_ok=True)
    plan.write_whole(STATE / "todo.json", json.dumps(todo))
    (STATE / "log").mkdir(exist_ok=True)
    with (STATE / "log/snakemake.log").open("wb") as log:
        process = subprocess.Popen(
            snakemake_command(runs, jobs, retries, executor),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
        )
        progress = Progress(todo, sorted(groups), jobs, len(runs) - len(todo))
        try:
            while process.poll() is None:
                progress.show()
                time.sleep(0.5)
            progress.show(last=True)
        except BaseException:
            stop(process)
            raise
    settle(runs, todo)


def settle(runs: Mapping[str, Planned], todo: Sequence[str]) -> None:
    """Give each run that was not started its reason: its board could not be prepared."""
    for key in todo:
        if (STATE / "done" / key).exists() or (STATE / "failed" / key).exists():
            continue
        group = runs[key].group
        records = [plan.read_state(STATE / "failed" / name) for name in (group, group.partition("+")[0])]
        record = records[0] or records[1]
        if record is None:
            raise LabError(f"Snakemake left runs undone; why: {STATE}/log/snakemake.log")
        record |= {"cell": runs[key].cell, "repeat": runs[key].repeat}
        plan.write_whole(STATE / "failed" / key, json.dumps(record))


def stop(process: subprocess.Popen[bytes]) -> None:
    """End Snakemake and its jobs, and wait for them: each job stops its board."""
    import psutil

    try:
        jobs = psutil.Process(process.pid).children()
    except psutil.NoSuchProcess:
        jobs = []
    # told first, so that it starts no other job
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    for job in jobs:
        with contextlib.suppress(psutil.NoSuchProcess):
            job.terminate()
    psutil.wait_procs(jobs, timeout=60)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()


def report(runs: Mapping[str, Planned], excluded: Sequence[Excluded], todo: Sequence[str]) -> int:
    """Say what became of the runs; the exit code."""
    failures = {key: reason for key in runs if (reason := failure(runs[key])) is not None}
    for entry in excluded:
        settings = " ".join(f"{name}={value}" for name, value in entry.settings.items())
        print(f"excluded  {entry.grid}: {settings}: {entry.reason}")
    for key, reason in failures.items():
        print(f"failed    {', '.join(runs[key].grids)}: {key}: {reason}")
    done = len(runs) - len(failures)
    print(
        f"{len(runs)} runs: {done} ok ({done - len([k for k in todo if k not in failures])} of them from "
        f"before), {len(failures)} failed; {len(excluded)} cells excluded"
    )
    commits = Counter(commit_of(key) for key in runs if key not in failures)
    if len(commits) > 1:
        counts = ", ".join(f"{commit} ({number})" for commit, number in commits.items())
        print(f"made by several versions of commitpath: {counts}; make results WHERE='commit=…' lists them")
    return 1 if failures else 0


def commit_of(key: str) -> str:
    """The git commit that a done run was made by."""
    done = plan.read_state(STATE / "done" / key) or {}
    host = plan.read_state(RESULTS / str(done.get("run")) / "host.json") or {}
    return str(host.get("commitpath_commit"))


def failure(run: Planned) -> str | None:
    """Why a run is not there, or None."""
    if (STATE / "done" / run.key).exists():
        return None
    record = plan.read_state(STATE / "failed" / run.key)
    return str(record["reason"]) if record else "it was not run"
