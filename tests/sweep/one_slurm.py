"""A Slurm of one machine, from Debian's packages: its files in one folder, on loopback only.

No systemd, no cgroup, no accounting; as root or as any user. SLURM_CONF, which names its
slurm.conf, is all that a client needs.
"""

import contextlib
import getpass
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from images.qemu import die_with_parent
from images.ssh import free_port

# as in playbooks/host.yml: the commands of each that are used here
PACKAGES = {"slurmctld": "slurmctld", "slurmd": "slurmd", "slurm-client": "sbatch", "munge": "munged"}
# A container may lack cgroups, or not let Slurm write them, and slurmd looks for a plugin at its
# start. This one, unlike cgroup/v2, does nothing before it is used, and here nothing uses it;
# 22.05 does not know `disabled`.
CGROUP_CONFIG = "CgroupPlugin=cgroup/v1\n"
START_SECONDS = 30
STOP_SECONDS = 30
# CPUs and memory are no part of what is tested, so there is enough for three jobs at a time.
CONFIG = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1048576
PartitionName=all Nodes=ALL Default=YES
"""


def program(name: str) -> str | None:
    """A command's path; daemons are not on every user's PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def missing() -> list[str]:
    """Debian packages without which there is no Slurm here."""
    return [package for package, command in PACKAGES.items() if program(command) is None]


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Path]:
    """Start it; the path of its slurm.conf. No daemon and no job is left when the block is left."""
    config = folder / "slurm.conf"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    config.write_text(
        CONFIG.format(
            folder=folder,
            host=platform.node().partition(".")[0],
            user=getpass.getuser(),
            controller_port=free_port(),
            node_port=free_port(),
        )
    )
    (folder / "cgroup.conf").write_text(CGROUP_CONFIG)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    files = {
        "key-file": key,
        "socket": folder / "munge.sock",
        "pid-file": folder / "munge.pid",
        "seed-file": folder / "munge.seed",
        "log-file": folder / "munged.log",
    }
    commands = [
        # -f: the socket is for one user, below a folder that others may not enter
        ["munged", "-F", "-f", *(f"--{name}={path}" for name, path in files.items())],
        ["slurmctld", "-D", "-c"],
        ["slurmd", "-D"],
    ]
    environment = {**os.environ, "SLURM_CONF": str(config)}
    with contextlib.ExitStack() as stack:
        for command in commands:
            stack.enter_context(daemon(command, folder, environment))
            if command[0] == "munged":
                wait_until("munged's socket", files["socket"].exists, folder)
        wait_until("the node", lambda: said(environment, "sinfo", "-h", "-o", "%T") == "idle", folder)
        stack.callback(end_jobs, environment, folder)
        yield config


@contextlib.contextmanager
def daemon(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A daemon in the foreground, gone when the block is left, and when this process ends."""
    name, *arguments = command
    path = program(name)
    assert path, f"{name} is not installed"
    with (folder / f"{name}.out").open("wb") as output:
        process = subprocess.Popen(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
            # Ctrl-C is for the tests, which then end it
            start_new_session=True,
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def said(environment: dict[str, str], *command: str) -> str:
    """What one of Slurm's commands prints; nothing where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    return done.stdout.strip()


def end_jobs(environment: dict[str, str], folder: Path) -> None:
    """Cancel what still runs, and wait for its end."""
    said(environment, "scancel", f"--user={getpass.getuser()}")
    wait_until("the end of its jobs", lambda: not said(environment, "squeue", "-h"), folder)


def wait_until(what: str, holds: Callable[[], bool], folder: Path) -> None:
    """Wait; AssertionError with what the daemons said where it takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            logs = [f"{path.name}: {path.read_text()[-600:]}" for path in sorted(folder.glob("*.out"))]
            raise AssertionError("\n".join([f"Slurm: {what}: not within {START_SECONDS} s", *logs]))
        time.sleep(0.1)
