"""Start the virtual board in QEMU, save and restore it, attach probes, and run a cell from a snapshot."""

import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from base import scratch
from base.errors import LabError
from images import qemu, snapshot
from images.cellrun import CellRun, RunOutput, pack_cell
from images.console import wait_for_line, wait_until
from images.ssh import Login, answers, free_port

# Wall seconds, by clock: under KVM a board boots in seconds or never.
BOOT_LIMIT_SECONDS = {"provision": 180.0, "real": 180.0, "kvm": 30.0}
SSH_LIMIT_SECONDS = 180.0
READY_LIMIT_SECONDS = 60.0
ATTACH_LIMIT_SECONDS = 300.0
WRITE_LIMIT_SECONDS = 20.0
# The board's message when no SSH session is open.
REACHABLE = "board: no session is open"
# The board's message when it is held (playbooks/board/run-cell.sh).
HELD = "run-cell: held"
# In the cell's place before there is a cell; await-cell.sh rehearses with it.
REHEARSAL = pack_cell("none", {"rehearsal": b""})


class BoardEndedError(LabError):
    """A board ended too early."""


@dataclass(frozen=True)
class VirtualBoard:
    """A board of one image, memory size and CPU speed; each start is a new process."""

    image: Path
    keys: Path
    memory_mib: int
    cpu_ns: int
    scratch: Path
    program: str = qemu.QEMU
    persistent_mib: int = 0

    def machine(self, folder: Path, clock: str, ram: Path, shared: bool, port: int | None) -> qemu.Machine:
        of_board = (self.image, folder, self.keys, self.memory_mib, clock, self.cpu_ns)
        return qemu.Machine(*of_board, ram, shared, port, self.program, self.persistent_mib)

    def description(self) -> str:
        """Return the machine's properties without local paths: a snapshot fits only the same machine.

        It fits both Debian's QEMU and ours.
        """
        nowhere = Path("nowhere")
        board = replace(self, image=nowhere, keys=nowhere, scratch=nowhere, program=qemu.QEMU)
        return " ".join(board.machine(nowhere, "virtual", nowhere, False, None).arguments())

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """Yield a temporary folder for one QEMU's sockets, memory and logs."""
        with scratch.folder(self.scratch, "vm", scratch.PRIVATE) as folder:
            yield folder

    @contextmanager
    def started(
        self, clock: str, ram: Path | None = None
    ) -> Iterator[tuple[Login, qemu.Machine, qemu.Monitor]]:
        """Boot and wait for SSH. clock: `provision`, `real` or `kvm`."""
        with (
            self.reachable(clock, ram) as (login, machine),
            qemu.running(machine) as process,
            booted(machine, process) as monitor,
        ):
            wait_until("SSH answers", SSH_LIMIT_SECONDS, process, machine, lambda: answers(login))
            yield login, machine, monitor

    @contextmanager
    def resumed(
        self, saved: Path, ram: Path | None = None
    ) -> Iterator[tuple[Login, qemu.Machine, qemu.Monitor]]:
        """Continue from a snapshot by save_reachable, with a copy of its memory, and wait for SSH."""
        with self.reachable("provision", ram) as (login, machine):
            copy_memory(saved, machine.ram)
            with self.restored(saved, machine) as (process, monitor):
                wait_until("SSH answers", SSH_LIMIT_SECONDS, process, machine, lambda: answers(login))
                yield login, machine, monitor

    @contextmanager
    def reachable(self, clock: str, ram: Path | None) -> Iterator[tuple[Login, qemu.Machine]]:
        """Yield a machine with an SSH port and the rehearsal in place of a cell; ram: default a new file."""
        with self.work_folder() as folder:
            port = free_port()
            machine = self.machine(folder, clock, ram or folder / "ram", True, port)
            machine.write_cell(REHEARSAL)
            yield Login(port, self.keys), machine

    def save_reachable(
        self, login: Login, machine: qemu.Machine, monitor: qemu.Monitor, folder: Path
    ) -> None:
        """Save a board with no open session, which SSH can reach when it is resumed."""
        end_sessions = f"sleep 1; pkill -x sshd-session; echo {REACHABLE}"
        say_and_save(end_sessions, REACHABLE, login, machine, monitor, folder)

    def save(self, login: Login, machine: qemu.Machine, monitor: qemu.Monitor, folder: Path) -> None:
        """Leave the board waiting for a cell, and save its devices next to its memory."""
        wait_for_cell = "exec sh /run/commitpath/await-cell.sh"
        say_and_save(wait_for_cell, "await-cell: ready", login, machine, monitor, folder)

    @contextmanager
    def restored(
        self, saved: Path, machine: qemu.Machine
    ) -> Iterator[tuple[subprocess.Popen[bytes], qemu.Monitor]]:
        """Run QEMU from a snapshot's devices with the machine's memory."""
        snapshot.mark_used(saved)
        machine = replace(machine, restored=True)
        with (
            qemu.running(machine) as process,
            qemu.Monitor(machine, process) as monitor,
        ):
            monitor.migrate("migrate-incoming", f"exec:cat {shlex.quote(str(saved / 'state'))}")
            monitor.command("cont")
            yield process, monitor

    def attach(self, saved: Path, payload: dict[str, bytes], folder: Path) -> None:
        """Restore a snapshot, attach the payload's probes, and save the board again."""
        item = pack_cell("arm_", payload)
        until = self.restored_until(saved, item, folder, "await-cell: armed", ATTACH_LIMIT_SECONDS)
        with until as (line, machine):
            if line is None:
                last = machine.serial_tail()
                raise LabError(f"the board died while its probes were attached; its last line: {last}")
            if line != "await-cell: armed: yes":
                raise LabError(f"the probes did not attach: {machine.serial_tail(2)}")

    def hold(self, saved: Path, payload: dict[str, bytes], folder: Path, limit: float) -> None:
        """Restore a snapshot with a cell that ends in the step `hold`, and save the board in that step.

        SSH reaches it when it is resumed. limit: wall seconds until then.
        """
        with self.restored_until(saved, pack_cell("cell", payload), folder, HELD, limit) as (line, machine):
            if line is None:
                last = machine.serial_tail()
                raise BoardEndedError(f"the board ended before it was held; its last line: {last}")

    @contextmanager
    def restored_until(
        self, saved: Path, item: bytes, folder: Path, start: str, limit: float
    ) -> Iterator[tuple[str | None, qemu.Machine]]:
        """Restore a snapshot, yield the console line that begins with `start`, or None; save it in FOLDER."""
        copy_memory(saved, folder / "ram")
        with self.work_folder() as work:
            machine = self.machine(work, "virtual", folder / "ram", True, None)
            machine.write_cell(item)
            with self.restored(saved, machine) as (_, monitor):
                yield wait_for_line(machine, start, limit, monitor.process), machine
                save_state(monitor, folder)

    @contextmanager
    def cell_started(self, saved: Path, payload: dict[str, bytes], limit: float) -> Iterator[CellRun]:
        """Restore a snapshot with a cell, which the board runs before it powers off.

        payload: file name below /run/commitpath → content. limit: wall seconds. Leaving the block ends
        the board.
        """
        with self.work_folder() as folder:
            machine = self.machine(folder, "virtual", saved / "ram", False, None)
            machine.write_cell(pack_cell("cell", payload))
            begin = time.monotonic()
            with self.restored(saved, machine) as (process, _):
                yield CellRun(saved, machine, process, begin, limit)

    def run_cell(self, saved: Path, payload: dict[str, bytes], limit: float) -> RunOutput:
        """Run a cell from a snapshot to its end; limit: wall seconds."""
        with self.cell_started(saved, payload, limit) as run:
            run.wait_start()
            return run.wait_end()


@contextmanager
def booted(machine: qemu.Machine, process: subprocess.Popen[bytes]) -> Iterator[qemu.Monitor]:
    """Yield the monitor of a board once it has booted."""
    limit = BOOT_LIMIT_SECONDS[machine.clock]
    with ExitStack() as stack:
        try:
            monitor = stack.enter_context(qemu.Monitor(machine, process))
            wait_until("the board is up", limit, process, machine, machine.is_up)
        except LabError as error:
            if machine.clock != "kvm":
                raise
            raise LabError(
                f"CLOCK=kvm: the board does not boot under KVM here ({error}); "
                "use CLOCK=virtual or CLOCK=real"
            ) from error
        yield monitor


def copy_memory(saved: Path, ram: Path) -> None:
    """Copy a snapshot's memory after checking it against its hash."""
    if fault := snapshot.ram_fault(saved):
        raise snapshot.SnapshotError(saved, fault)
    copy = ["cp", "--reflink=auto", "--sparse=always", str(saved / "ram"), str(ram)]
    done = subprocess.run(copy, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(done.stderr.strip())


def say_and_save(
    script: str, ready: str, login: Login, machine: qemu.Machine, monitor: qemu.Monitor, folder: Path
) -> None:
    """Run a script on the board outside SSH, and save the board when its console prints READY."""
    command = f"setsid sh -c '{script}' </dev/null >/dev/console 2>&1 &"
    try:
        subprocess.run(login.ssh(command), check=True, timeout=READY_LIMIT_SECONDS)
    except subprocess.SubprocessError as error:
        raise LabError(f"the board does not take its last command: {error}") from error
    if wait_for_line(machine, ready, READY_LIMIT_SECONDS, monitor.process) is None:
        raise LabError(f"the board died before it could be saved; its last line: {machine.serial_tail()}")
    save_state(monitor, folder)


def save_state(monitor: qemu.Monitor, folder: Path) -> None:
    """Stop the machine and save its devices; its memory is already in its file.

    QEMU reports completion when the last bytes are in the pipe, so the writing command renames the file
    to show that they are on the disk.
    """
    state = folder / "state"
    place, part = shlex.quote(str(state)), shlex.quote(f"{state}.part")
    uri = f"exec:cat > {part} && mv {part} {place}"
    monitor.command("stop")
    monitor.migrate("migrate", uri)
    monitor.command("quit")
    deadline = time.monotonic() + WRITE_LIMIT_SECONDS
    while not state.exists():
        if time.monotonic() > deadline:
            raise LabError(f"QEMU: migrate {uri}: it completed, but not all was written")
        time.sleep(0.02)
