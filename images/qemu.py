"""Run QEMU for the virtual board: its command line, clock, process; monitor commands; save or load its state.

The machine is defined in one place, as a snapshot loads only into the same machine.
"""

import asyncio
import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qemu.qmp import QMPError
from qemu.qmp.legacy import QEMUMonitorProtocol

from base.errors import LabError
from images import devicetree
from images.cpus import own_cpu

QEMU = "qemu-system-aarch64"
# Monitor reports errors; the library would log each failed attempt to connect.
logging.getLogger("qemu").addHandler(logging.NullHandler())
# Size of the fw_cfg item that carries a cell into the board. It is part of the machine: the guest kernel
# reads it once, when its fw_cfg driver loads.
CELL_ITEM_BYTES = 256 * 1024
# In addition to the device's own memory: root, page cache, the probes' ring of 64 MiB, and twice 32 MiB for
# tracing the device or a device's own log. Observers that keep more have memory of their own (memory_mib).
BOARD_MEMORY_MIB = 1536
# Address of the memory of machine `virt` (QEMU's hw/arm/virt.c).
MEMORY_AT = 1 << 30
# Device tree of a machine with persistent memory.
TREE = "board.dtb"
# A virtio device handles a request at the guest's instruction that makes it. By default another thread does
# so later, and also checks every queue after a restore: those interrupts came at a random instruction.
IN_VIRTUAL_TIME = "ioeventfd=off"
# Kernel options for repeatable numbers: the same addresses in every board, no random stack offset per system
# call, and no khugepaged, which every 10 s since boot takes the CPU for 3 to 4 ms, in another transaction of
# each board. Also a fixed size of per-CPU page lists, 1/64 of the memory: the kernel adapts it, and while it
# changes, transactions free and allocate batches of 63 pages, 43 us each
# (docs/measurements/repeatability.md).
REPEATABLE = (
    "nokaslr norandmaps randomize_kstack_offset=off transparent_hugepage=never "
    "sysctl.vm.percpu_pagelist_high_fraction=64"
)
# Turn off work that Debian's kernel does per system call and page for servers, and phones' kernels of the
# studies did not: security modules, memory cgroups, stall accounting, zeroing of pages, and mitigations for
# speculation that the emulated CPU does not do (docs/measurements/performance.md).
LEAN = "lsm= cgroup_disable=memory psi=0 init_on_alloc=0 mitigations=off"


def qemu_version(program: str = QEMU) -> str:
    """Return the first line of QEMU's --version; that of Debian's QEMU is part of a snapshot's key."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(f"{program}: {error}; `make host` installs it") from error
    return done.stdout.splitlines()[0]


def icount_shift(cpu_ns: int) -> int:
    """Return -icount's shift for CPU_NS: QEMU counts 2^shift ns per instruction."""
    shift = cpu_ns.bit_length() - 1
    if cpu_ns != 1 << max(shift, 0):
        raise LabError(f"CPU_NS={cpu_ns}: must be a power of two, at least 1 (QEMU's ns per instruction)")
    return shift


@dataclass(frozen=True)
class Machine:
    """The parts of a virtual board: image, memory, clock and files.

    folder: sockets, serial log and output of this process.
    ram: the file behind the guest's memory. shared: guest writes reach it.
    clock: `provision` (virtual time that idles in real time, for SSH), `virtual`
    (idle time is skipped), `real` (plain emulation) or `kvm` (the host's CPU).
    cpu_ns: virtual ns per instruction, under `provision` and `virtual`.
    program: the QEMU to use (images/emulator.py), except under `kvm`, which uses Debian's.
    persistent_mib: persistent memory, after the other in the same file; 0: none.
    restored: it waits for a snapshot, which has what a boot reads: 0.15 CPU s of QEMU.
    """

    image: Path
    folder: Path
    keys: Path
    memory_mib: int
    clock: str
    cpu_ns: int
    ram: Path
    shared: bool
    ssh_port: int | None = None
    program: str = QEMU
    persistent_mib: int = 0
    restored: bool = False

    def executable(self) -> str:
        """Return the program to start under the name QEMU, by which `make destroy` finds boards."""
        return QEMU if self.clock == "kvm" else self.program

    def arguments(self) -> list[str]:
        """Return the command line for a process that works in `folder`; its only paths are link_files's
        names.

        Host paths could contain characters special to QEMU or the shell, or exceed a socket name's length.
        """
        forward = f",hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22" if self.ssh_port else ""
        return [
            QEMU,
            *self.cpu_arguments(),
            *("-m", f"{self.memory_mib + self.persistent_mib}M"),
            "-object",
            f"memory-backend-file,id=ram,size={self.memory_mib + self.persistent_mib}M,"
            f"mem-path=memory/{self.ram.name},share={'on' if self.shared else 'off'}",
            *self.time_arguments(),
            *("-seed", "1"),
            *(("-incoming", "defer") if self.restored else self.boot_arguments()),
            *("-nodefaults", "-no-reboot", "-display", "none"),
            *("-serial", "file:serial.log"),
            *("-qmp", "unix:qmp,server=on,wait=off"),
            *("-drive", "if=none,id=root,file=image/root.img,format=raw,readonly=on"),
            *("-device", f"virtio-blk-pci,drive=root,{IN_VIRTUAL_TIME}"),
            *("-netdev", f"user,id=net,restrict=on,ipv6=off{forward}"),
            *("-device", f"virtio-net-pci,netdev=net,romfile=,{IN_VIRTUAL_TIME}"),
            *("-device", f"virtio-serial-pci,{IN_VIRTUAL_TIME}"),
            *("-chardev", "socket,id=agent,path=agent,server=on,wait=off"),
            *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
            *("-chardev", "file,id=out,path=out.tar"),
            *("-device", "virtserialport,chardev=out,name=commitpath.out"),
            *("-fw_cfg", "name=opt/commitpath/host_key,file=keys/host"),
            *("-fw_cfg", "name=opt/commitpath/authorized_keys,file=keys/id.pub"),
            *("-fw_cfg", "name=opt/commitpath/cell,file=cell"),
        ]

    def boot_arguments(self) -> list[str]:
        """Return the kernel, its command line and its device tree."""
        return [
            *("-kernel", "image/vmlinuz", "-initrd", "image/initrd"),
            *("-append", f"console=ttyAMA0 {REPEATABLE} {LEAN} panic=-1 loglevel=4"),
            # QEMU's own device tree has no persistent memory
            *(("-dtb", TREE) if self.persistent_mib else ()),
        ]

    def write_tree(self) -> None:
        """Write the device tree of a machine with persistent memory, made from QEMU's own."""
        own_tree = self.folder / "own.dtb"
        machine, *more = self.cpu_arguments()[1:]
        machine = f"{machine.replace('memory-backend=ram,', '')},dumpdtb={own_tree.name}"
        line = [QEMU, "-machine", machine, *more, "-m", f"{self.memory_mib + self.persistent_mib}M"]
        line += ["-nodefaults", "-display", "none"]
        done = subprocess.run(
            line, executable=self.executable(), cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode or not own_tree.is_file():
            errors = done.stderr.strip().splitlines() or ["nothing"]
            raise LabError(f"QEMU gives no device tree: {errors[-1]}")
        sizes = (self.memory_mib << 20, self.persistent_mib << 20)
        tree = devicetree.with_persistent_memory(own_tree.read_bytes(), MEMORY_AT, *sizes)
        (self.folder / TREE).write_bytes(tree)

    def cpu_arguments(self) -> list[str]:
        """Return -machine, -accel and -cpu for the clock."""
        machine = "virt,dtb-randomness=off,memory-backend=ram,gic-version="
        if self.clock == "kvm":
            return ["-machine", f"{machine}host", "-accel", "kvm", "-cpu", "host", "-smp", "1"]
        # the first Arm CPU with dc cvap, which cleans a cache line to the point of persistence
        cpu = "cortex-a76" if self.persistent_mib else "cortex-a72"
        emulator = ["-accel", "tcg,thread=single", "-cpu", cpu, "-smp", "1"]
        return ["-machine", f"{machine}3", *emulator]

    def time_arguments(self) -> list[str]:
        """Return -icount and -rtc for the clock."""
        if self.clock in ("real", "kvm"):
            return ["-rtc", "base=2026-01-01"]
        sleep = "on" if self.clock == "provision" else "off"
        counted = f"shift={icount_shift(self.cpu_ns)},sleep={sleep}"
        return ["-icount", counted, "-rtc", "base=2026-01-01,clock=vm"]

    def link_files(self) -> None:
        """Link files from elsewhere into the folder."""
        for name, place in (("image", self.image), ("keys", self.keys), ("memory", self.ram.parent)):
            (self.folder / name).symlink_to(place.absolute())

    def write_cell(self, content: bytes) -> None:
        """Write the fw_cfg item, zero-padded to its fixed size."""
        if len(content) > CELL_ITEM_BYTES:
            raise LabError(f"a cell of {len(content)} bytes does not fit into {CELL_ITEM_BYTES}")
        (self.folder / "cell").write_bytes(content.ljust(CELL_ITEM_BYTES, b"\0"))

    def is_up(self) -> bool:
        """Return whether the guest has booted (a message of images/board-rc.sh)."""
        return "board: up" in (self.folder / "serial.log").read_text(errors="replace")

    def serial_tail(self, number: int = 1) -> str:
        """Return a last line of the guest (the `number`-th from the end) for an error message."""
        log = self.folder / "serial.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        panic = [line for line in lines if "Kernel panic" in line or "Unable to mount" in line]
        last = panic or [line for line in lines if line.strip()] or ["nothing"]
        return last[-min(number, len(last))].strip()


def die_with_parent(how: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel end this process when its parent ends."""
    libc = ctypes.CDLL(None)
    libc.prctl(1, how)


@contextlib.contextmanager
def running(machine: Machine, *extra: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run QEMU; it is ended when the block is left, also on Ctrl-C."""
    log = machine.folder / "qemu.log"
    with contextlib.ExitStack() as stack:
        machine.link_files()
        if machine.persistent_mib and not machine.restored:
            machine.write_tree()
        icount = "-icount" in machine.arguments()
        cpus = stack.enter_context(own_cpu()) if icount else os.sched_getaffinity(0)
        output = stack.enter_context(log.open("wb"))

        def before_exec() -> None:
            die_with_parent()
            os.sched_setaffinity(0, cpus)
            # a board's memory contains its keys
            os.umask(0o077)

        process = subprocess.Popen(
            [*machine.arguments(), *extra],
            executable=machine.executable(),
            cwd=machine.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=before_exec,  # noqa: PLW1509 - system calls, no locks
            # Ctrl-C is handled here, not by QEMU
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def end_tasks() -> None:
    """End the tasks of QMP's event loop: otherwise they print a traceback when Python ends."""
    loop = asyncio.get_event_loop()
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    # the same for coroutines that the library had made but not scheduled
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)


class Monitor:
    """QMP connection that raises QEMU's errors as LabError."""

    def __init__(self, machine: Machine, process: subprocess.Popen[bytes]) -> None:
        self.machine = machine
        self.process = process
        folder = os.open(machine.folder, os.O_PATH)
        try:
            # a socket's name has at most 107 bytes; a checkout's path may be longer
            self.connect(f"/proc/self/fd/{folder}/qmp")
        except KeyboardInterrupt:
            end_tasks()
            raise
        finally:
            os.close(folder)

    def connect(self, socket: str) -> None:
        """Connect once QEMU listens; LabError when it ends before."""
        for attempt in range(200):
            self.qmp = QEMUMonitorProtocol(socket)
            try:
                self.qmp.connect()
                return
            except (OSError, QMPError, AssertionError) as error:
                # no socket or listener yet; or QEMU ended during the greeting, for which the library has
                # an assertion
                self.close()
                if attempt == 199 or self.process.poll() is not None:
                    raise LabError(f"QEMU did not start: {self.last_line() or error}") from error
            time.sleep(0.02)

    def last_line(self) -> str:
        """Return the last line that QEMU printed, or nothing."""
        log = (self.machine.folder / "qemu.log").read_text(errors="replace").strip().splitlines()
        return log[-1] if log else ""

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. QEMU may have closed it, and an interrupt may have ended the loop's tasks."""
        with contextlib.suppress(OSError, QMPError, EOFError, asyncio.CancelledError):
            self.qmp.close()

    def command(self, name: str, **arguments: Any) -> Any:
        """Run one command; LabError if QEMU rejects it or has ended."""
        try:
            return self.qmp.cmd(name, **arguments)
        except KeyboardInterrupt:
            end_tasks()
            raise
        except Exception as error:
            # a QEMU that ends closes the connection; why it ended is in its log
            ended = self.process.poll() is not None and self.last_line()
            raise LabError(f"QEMU: {name}: {ended or error}") from error

    def migrate(self, command: str, uri: str) -> None:
        """Save or load the machine's state; memory stays in its file (x-ignore-shared)."""
        self.command(
            "migrate-set-capabilities",
            capabilities=[{"capability": "x-ignore-shared", "state": True}],
        )
        self.command(command, uri=uri)
        while (state := self.command("query-migrate").get("status")) != "completed":
            if state in ("failed", "cancelled"):
                raise LabError(f"QEMU: {command} {uri}: {state}")
            time.sleep(0.02)
