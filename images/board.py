"""The virtual board: start it, snapshot it prepared, run a cell from a snapshot."""

import io
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from commitpath.errors import LabError
from images import qemu, snapshot

BOOT_LIMIT_SECONDS = 180


@dataclass(frozen=True)
class Login:
    """How to reach a started board over SSH, as Ansible variables."""

    port: int
    keys: Path

    def ssh_options(self) -> list[str]:
        """Options for ssh: this board's keys, and no other host's."""
        return [
            *("-i", str(self.keys / "id")),
            *("-o", f"UserKnownHostsFile={self.keys}/known_hosts"),
            *("-o", "StrictHostKeyChecking=yes", "-o", "HostKeyAlias=board"),
            *("-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR"),
        ]

    def ssh(self, *command: str) -> list[str]:
        """Command line of an SSH call."""
        return ["ssh", *self.ssh_options(), "-p", str(self.port), "root@127.0.0.1", *command]

    def ansible(self) -> dict[str, str | int]:
        """Connection variables."""
        return {
            "ansible_host": "127.0.0.1",
            "ansible_port": self.port,
            "ansible_user": "root",
            "ansible_ssh_common_args": " ".join(self.ssh_options()),
        }


def make_keys(folder: Path) -> None:
    """A key pair and a host key for this checkout's boards, once."""
    if (folder / "known_hosts").exists():
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("id", "host"):
        for stale in (folder / name, folder / f"{name}.pub"):
            stale.unlink(missing_ok=True)
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "commitpath", "-f", str(folder / name)],
            check=True,
            stdin=subprocess.DEVNULL,
        )
    kind, key, *_ = (folder / "host.pub").read_text().split()
    (folder / "known_hosts").write_text(f"board {kind} {key}\n")


def free_port() -> int:
    """A loopback port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(
    what: str, limit: float, process: subprocess.Popen[bytes], machine: qemu.Machine, done: Callable[[], bool]
) -> None:
    """Poll done() until it is true; LabError when QEMU ends or the wall time is up."""
    deadline = time.monotonic() + limit
    while not done():
        if process.poll() is not None:
            log = (machine.folder / "qemu.log").read_text(errors="replace").strip().splitlines()
            said = log[-1] if log else machine.serial_tail()
            raise LabError(f"the board ended before {what}; it said: {said}")
        if time.monotonic() > deadline:
            raise LabError(f"no {what} within {limit:.0f} s; the board's last line: {machine.serial_tail()}")
        time.sleep(0.05)


@dataclass(frozen=True)
class VirtualBoard:
    """A board of one image and memory size; each start is a process of its own."""

    image: Path
    keys: Path
    memory_mib: int
    scratch: Path

    def machine(self, folder: Path, clock: str, ram: Path, shared: bool, port: int | None) -> qemu.Machine:
        machine = qemu.Machine(self.image, folder, self.keys, self.memory_mib, clock, ram, shared, port)
        machine.write_cell(b"none\n")
        return machine

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """A short-lived folder for one QEMU's sockets, memory and logs."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="vm-", dir=self.scratch) as name:
            yield Path(name)

    @contextmanager
    def started(
        self, clock: str, ram: Path | None = None
    ) -> Iterator[tuple[Login, qemu.Machine, qemu.Monitor]]:
        """Boot and wait for SSH. clock: `provision` or `real`."""
        with self.work_folder() as folder:
            port = free_port()
            machine = self.machine(folder, clock, ram or folder / "ram", True, port)
            login = Login(port, self.keys)
            with qemu.running(machine) as process, qemu.Monitor(machine, process) as monitor:
                log = folder / "serial.log"
                wait_until(
                    "the board is up",
                    BOOT_LIMIT_SECONDS,
                    process,
                    machine,
                    lambda: "board: up" in log.read_text(errors="replace"),
                )
                wait_until("SSH answers", BOOT_LIMIT_SECONDS, process, machine, lambda: answers(login))
                yield login, machine, monitor

    def save(self, login: Login, machine: qemu.Machine, monitor: qemu.Monitor, folder: Path) -> None:
        """Leave the board waiting for a cell, and save its devices beside its memory."""
        command = "setsid sh /run/commitpath/await-cell.sh </dev/null >/dev/console 2>&1 &"
        subprocess.run(login.ssh(command), check=True, timeout=60)
        if wait_for_line(machine, "await-cell: ready", 60, monitor.process) is None:
            raise LabError(f"the board died before it could be saved; its last line: {machine.serial_tail()}")
        save_state(monitor, folder)

    @contextmanager
    def restored(
        self, saved: Path, machine: qemu.Machine
    ) -> Iterator[tuple[subprocess.Popen[bytes], qemu.Monitor]]:
        """QEMU, going on from a snapshot's devices with the machine's memory."""
        with (
            qemu.running(machine, "-incoming", "defer") as process,
            qemu.Monitor(machine, process) as monitor,
        ):
            monitor.migrate("migrate-incoming", f"exec:cat '{saved}/state'")
            monitor.command("cont")
            yield process, monitor

    def attach(self, saved: Path, payload: dict[str, bytes], folder: Path) -> None:
        """Restore a snapshot, attach the payload's probes, and save the board again."""
        if fault := snapshot.ram_fault(saved):
            raise SnapshotError(fault)
        subprocess.run(
            ["cp", "--reflink=auto", "--sparse=always", str(saved / "ram"), str(folder / "ram")], check=True
        )
        with self.work_folder() as scratch:
            machine = self.machine(scratch, "virtual", folder / "ram", True, None)
            machine.write_cell(pack_cell("arm_", payload))
            with self.restored(saved, machine) as (_, monitor):
                line = wait_for_line(machine, "await-cell: armed", 300, monitor.process)
                if line is None:
                    said = machine.serial_tail()
                    raise LabError(f"the board died while its probes were attached; its last line: {said}")
                if line != "await-cell: armed: yes":
                    raise LabError(f"the probes did not attach: {machine.serial_tail(2)}")
                save_state(monitor, folder)

    def run_cell(self, saved: Path, payload: dict[str, bytes], limit: float) -> "RunOutput":
        """Restore a snapshot with a cell in it, wait until the board powers itself off.

        payload: file name below /run/commitpath → content. limit: wall seconds.
        Raises LabError when the guest dies, hangs or says too little.
        """
        with self.work_folder() as folder:
            machine = self.machine(folder, "virtual", saved / "ram", False, None)
            machine.write_cell(pack_cell("cell", payload))
            faults: list[str | None] = []
            checker = threading.Thread(target=lambda: faults.append(snapshot.ram_fault(saved)))
            begin = time.monotonic()
            with self.restored(saved, machine) as (process, _):
                restored = time.monotonic()
                wait_for_line(machine, "run-cell: driver starts", limit, process)
                started = time.monotonic()
                checker.start()
                try:
                    process.wait(limit)
                except subprocess.TimeoutExpired as error:
                    raise LabError(
                        f"no end of the run within {limit:.0f} s; the board said: {machine.serial_tail()}"
                    ) from error
            end = time.monotonic()
            checker.join()
            if faults != [None]:
                raise SnapshotError(str(faults[0]))
            output = read_output(folder / "out.tar", machine, process.returncode)
            output.restore_seconds = restored - begin
            output.start_seconds = started - restored
            output.run_seconds = end - restored
            return output


def save_state(monitor: qemu.Monitor, folder: Path) -> None:
    """Stop the machine and save its devices; its memory is in its file already."""
    monitor.command("stop")
    monitor.migrate("migrate", f"exec:cat > '{folder}/state'")
    monitor.command("quit")


def wait_for_line(
    machine: qemu.Machine, start: str, limit: float, process: subprocess.Popen[bytes]
) -> str | None:
    """The console line that begins with `start`, None when QEMU ends first.

    LabError when neither comes within `limit` wall seconds.
    """
    log = machine.folder / "serial.log"
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
            if line.startswith(start):
                return line
        if ended:
            return None
        time.sleep(0.02)
    raise LabError(f"the board did not say '{start}'; its last line: {machine.serial_tail()}")


class SnapshotError(LabError):
    """A stored snapshot is not what was saved; making it again is the remedy."""


@dataclass
class RunOutput:
    """What a board sent: the tar's bytes, and how long the host took (seconds)."""

    tar: bytes
    restore_seconds: float = 0.0
    start_seconds: float = 0.0
    run_seconds: float = 0.0

    def text(self, name: str) -> str:
        with tarfile.open(fileobj=io.BytesIO(self.tar)) as tar:
            file = tar.extractfile(name)
            return file.read().decode(errors="replace") if file else ""

    def extract(self, folder: Path) -> None:
        """Unpack raw/ into a run's folder."""
        with tarfile.open(fileobj=io.BytesIO(self.tar)) as tar:
            members = [member for member in tar if member.name.split("/")[0] == "raw"]
            tar.extractall(folder, members=members, filter="data")


def answers(login: Login) -> bool:
    """Whether SSH works now."""
    done = subprocess.run(login.ssh("-o", "ConnectTimeout=5", "true"), capture_output=True, check=False)
    return done.returncode == 0


def pack_cell(word: str, payload: dict[str, bytes]) -> bytes:
    """The fw_cfg item that images/await-cell.sh reads: what to do, and with what."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(payload.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    packed = buffer.getvalue()
    return f"{word}\n{len(packed)}\n".encode() + packed


def read_output(path: Path, machine: qemu.Machine, code: int) -> RunOutput:
    """The board's tar, whole; LabError with the guest's last words when it is not."""
    content = path.read_bytes() if path.exists() else b""
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            names = tar.getnames()
        # tar ends with two blocks of zeros; without them it was cut short
        if content.endswith(b"\0" * 1024) and "run-cell.status" in names:
            return RunOutput(content)
    except tarfile.TarError:
        pass
    raise LabError(
        f"the board died in the run (QEMU exit code {code}, {len(content)} bytes of results); "
        f"its last line: {machine.serial_tail()}"
    )
