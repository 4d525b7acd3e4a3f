"""QEMU's command line for the virtual board, and its monitor.

One place says what the machine is, as a snapshot loads only into the same machine.
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
# What goes wrong is said by Monitor; its library would say so too, at each try to connect.
logging.getLogger("qemu").addHandler(logging.NullHandler())
# Bytes of the fw_cfg item that carries a cell into the board. Its size is part of the
# machine: the guest kernel reads it once, when its fw_cfg driver loads.
CELL_ITEM_BYTES = 256 * 1024
# Beside the device's own memory: root, page cache, the probes' ring of 64 MiB, and the 32 MiB of
# who traces the device or of a device's own log, twice 32 at most. What else an observer keeps has
# memory of its own (its profile's memory_mib).
BOARD_MEMORY_MIB = 1536
# Where the machine `virt` has its memory (QEMU's hw/arm/virt.c).
MEMORY_AT = 1 << 30
# The device tree of a machine with persistent memory.
TREE = "board.dtb"
# A virtio device does what the guest asks of it at the guest's instruction that asks. By
# default another thread does it some time later, and also looks at every queue when a
# restored machine goes on: those interrupts came at a random instruction.
IN_VIRTUAL_TIME = "ioeventfd=off"
# Of the guest's kernel, for numbers that repeat: the same addresses in every board, no random
# stack offset in each system call, and no khugepaged. Every 10 s since the boot it takes the
# CPU for 3 to 4 ms, in another transaction of each board. And lists of free pages of one size,
# 1/64 of the memory: the kernel sizes them by what it has freed and taken, and while that size
# swings, transactions free and take batches of 63 pages, 43 us each (docs/measurements/repeatability.md).
REPEATABLE = (
    "nokaslr norandmaps randomize_kstack_offset=off transparent_hugepage=never "
    "sysctl.vm.percpu_pagelist_high_fraction=64"
)
# What Debian's kernel does in each system call and page for servers' sake, and no phone's kernel
# of the studies did: security modules, memory cgroups, stall accounting, pages zeroed before
# use, guards against a speculation that the emulated CPU does not do. docs/measurements/performance.md says
# what that saves.
LEAN = "lsm= cgroup_disable=memory psi=0 init_on_alloc=0 mitigations=off"


def qemu_version(program: str = QEMU) -> str:
    """First line of what a QEMU says to --version; that of Debian's is part of a snapshot's key."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(f"{program}: {error}; `make host` installs it") from error
    return done.stdout.splitlines()[0]


def icount_shift(cpu_ns: int) -> int:
    """-icount's shift for CPU_NS: QEMU counts 2^shift ns an instruction, and no other number."""
    shift = cpu_ns.bit_length() - 1
    if cpu_ns != 1 << max(shift, 0):
        raise LabError(f"CPU_NS={cpu_ns}: QEMU counts a power of two of ns for an instruction, 1 at least")
    return shift


@dataclass(frozen=True)
class Machine:
    """What a virtual board is made of: its image, memory, clock and files.

    folder: sockets, serial log and output of this one process.
    ram: the file behind the guest's memory. shared: guest writes reach it.
    clock: `provision` (virtual time that idles in real time, for SSH), `virtual`
    (idle time is skipped), `real` (plain emulation) or `kvm` (the host's CPU).
    cpu_ns: virtual ns of an instruction, under `provision` and `virtual`.
    program: which QEMU (images/emulator.py), but under `kvm`, which is Debian's.
    persistent_mib: persistent memory, behind the other in the same file; 0: none.
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

    def executable(self) -> str:
        """The program that is started under the name QEMU, by which `make destroy` finds every board."""
        return QEMU if self.clock == "kvm" else self.program

    def arguments(self) -> list[str]:
        """The whole command line, for a process that works in `folder`; only link_files's names are in it.

        So no path of the host is, in which QEMU's options, the length of a socket's name or the
        shell could find a meaning.
        """
        forward = f",hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22" if self.ssh_port else ""
        return [
            QEMU,
            *self.cpu_arguments(),
            *("-m", f"{self.memory_mib + self.persistent_mib}M"),
            *(
                "-object",
                f"memory-backend-file,id=ram,size={self.memory_mib + self.persistent_mib}M,"
                f"mem-path=memory/{self.ram.name},"
                f"share={'on' if self.shared else 'off'}",
            ),
            *self.time_arguments(),
            *("-seed", "1"),
            *("-kernel", "image/vmlinuz", "-initrd", "image/initrd"),
            *self.boot_arguments(),
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
        """The kernel's command line, and a device tree of ours where QEMU's own does not do."""
        words = f"console=ttyAMA0 {REPEATABLE} {LEAN} panic=-1 loglevel=4"
        return ["-append", words, *(["-dtb", TREE] if self.persistent_mib else [])]

    def write_tree(self) -> None:
        """Write the device tree of a machine with persistent memory: QEMU's own for it, with that."""
        own = self.folder / "own.dtb"
        machine, *more = self.cpu_arguments()[1:]
        machine = f"{machine.replace('memory-backend=ram,', '')},dumpdtb={own.name}"
        line = [QEMU, "-machine", machine, *more, "-m", f"{self.memory_mib + self.persistent_mib}M"]
        line += ["-nodefaults", "-display", "none"]
        done = subprocess.run(
            line, executable=self.executable(), cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode or not own.is_file():
            said = done.stderr.strip().splitlines() or ["nothing"]
            raise LabError(f"QEMU gives no device tree: {said[-1]}")
        sizes = (self.memory_mib << 20, self.persistent_mib << 20)
        tree = devicetree.with_persistent_memory(own.read_bytes(), MEMORY_AT, *sizes)
        (self.folder / TREE).write_bytes(tree)

    def cpu_arguments(self) -> list[str]:
        """-machine, -accel and -cpu for the clock."""
        machine = "virt,dtb-randomness=off,memory-backend=ram,gic-version="
        if self.clock == "kvm":
            return ["-machine", f"{machine}host", "-accel", "kvm", "-cpu", "host", "-smp", "1"]
        # the first of Arm's with dc cvap, which cleans a line to where it persists
        cpu = "cortex-a76" if self.persistent_mib else "cortex-a72"
        emulator = ["-accel", "tcg,thread=single", "-cpu", cpu, "-smp", "1"]
        return ["-machine", f"{machine}3", *emulator]

    def time_arguments(self) -> list[str]:
        """-icount and -rtc for the clock."""
        if self.clock in ("real", "kvm"):
            return ["-rtc", "base=2026-01-01"]
        sleep = "on" if self.clock == "provision" else "off"
        counted = f"shift={icount_shift(self.cpu_ns)},sleep={sleep}"
        return ["-icount", counted, "-rtc", "base=2026-01-01,clock=vm"]

    def link_files(self) -> None:
        """Give what lies elsewhere a name in the folder."""
        for name, place in (("image", self.image), ("keys", self.keys), ("memory", self.ram.parent)):
            (self.folder / name).symlink_to(place.absolute())

    def write_cell(self, content: bytes) -> None:
        """Fill the fw_cfg item, zero-padded to its fixed size."""
        if len(content) > CELL_ITEM_BYTES:
            raise LabError(f"a cell of {len(content)} bytes does not fit into {CELL_ITEM_BYTES}")
        (self.folder / "cell").write_bytes(content.ljust(CELL_ITEM_BYTES, b"\0"))

    def is_up(self) -> bool:
        """Whether the guest has booted (images/board-rc.sh says so)."""
        return "board: up" in (self.folder / "serial.log").read_text(errors="replace")

    def serial_tail(self, number: int = 1) -> str:
        """The guest's last words (the last but `number - 1`), for an error message."""
        log = self.folder / "serial.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        panic = [line for line in lines if "Kernel panic" in line or "Unable to mount" in line]
        last = panic or [line for line in lines if line.strip()] or ["nothing"]
        return last[-min(number, len(last))].strip()


def die_with_parent(how: signal.Signals = signal.SIGKILL) -> None:
    """Ask the kernel to end this process when its parent ends, however that ends."""
    libc = ctypes.CDLL(None)
    libc.prctl(1, how)


@contextlib.contextmanager
def running(machine: Machine, *extra: str) -> Iterator[subprocess.Popen[bytes]]:
    """QEMU's process; it is gone when the block is left, also on Ctrl-C."""
    log = machine.folder / "qemu.log"
    with contextlib.ExitStack() as stack:
        machine.link_files()
        if machine.persistent_mib:
            machine.write_tree()
        icount = "-icount" in machine.arguments()
        cpus = stack.enter_context(own_cpu()) if icount else os.sched_getaffinity(0)
        output = stack.enter_context(log.open("wb"))

        def before_exec() -> None:
            die_with_parent()
            os.sched_setaffinity(0, cpus)
            # a board's memory has its keys in it
            os.umask(0o077)

        process = subprocess.Popen(
            [*machine.arguments(), *extra],
            executable=machine.executable(),
            cwd=machine.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=before_exec,  # noqa: PLW1509 - system calls, no locks
            # Ctrl-C is for the harness to answer, not for QEMU
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def end_tasks() -> None:
    """End what QMP's event loop was about: left alone it is a traceback when Python ends."""
    loop = asyncio.get_event_loop()
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    # nor is what the library had made and not yet given to the loop
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)


class Monitor:
    """QMP, with QEMU's refusals as LabError."""

    def __init__(self, machine: Machine, process: subprocess.Popen[bytes]) -> None:
        self.machine = machine
        self.process = process
        folder = os.open(machine.folder, os.O_PATH)
        try:
            # a socket's name has at most 107 bytes, and a checkout's path any number of them
            self.connect(f"/proc/self/fd/{folder}/qmp")
        except KeyboardInterrupt:
            end_tasks()
            raise
        finally:
            os.close(folder)

    def connect(self, socket: str) -> None:
        """Connect, once QEMU listens; LabError when it ends before that."""
        for attempt in range(200):
            self.qmp = QEMUMonitorProtocol(socket)
            try:
                self.qmp.connect()
                return
            except (OSError, QMPError, AssertionError) as error:
                # the socket is not there, or nobody listens yet; or QEMU ended as it was greeted, at which
                # the library asserts that it is there
                self.close()
                if attempt == 199 or self.process.poll() is not None:
                    log = (self.machine.folder / "qemu.log").read_text(errors="replace").strip().splitlines()
                    raise LabError(f"QEMU did not start: {log[-1] if log else error}") from error
            time.sleep(0.02)

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it. QEMU may have closed it already, and an interrupt has ended the loop's tasks."""
        with contextlib.suppress(OSError, QMPError, EOFError, asyncio.CancelledError):
            self.qmp.close()

    def command(self, name: str, **arguments: Any) -> Any:
        """Run one command; LabError if QEMU refuses."""
        try:
            return self.qmp.cmd(name, **arguments)
        except KeyboardInterrupt:
            end_tasks()
            raise
        except Exception as error:
            raise LabError(f"QEMU: {name}: {error}") from error

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
