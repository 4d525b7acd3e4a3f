"""A lab board that is not ours: Debian 12 with systemd, its kernel 6.1 and its own OpenSSH.

An emulated machine of which the project builds nothing but the disk (build-foreign-board.sh): booted
with the host's clock, reached over SSH with keys of its own, and named in an inventory file as a
user's. The partition for us is on the disk that the root is on. Nothing is left behind.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from base import scratch
from base.data import load_yaml
from base.paths import EXPERIMENTS
from commitpath.host import ansible
from images import artifacts, qemu
from images.console import wait_until
from images.ssh import Login, answers, free_port, make_keys

HERE = Path(__file__).parent
PARTITION_BYTES = 320 << 20
# What the disk is attached as: QEMU's devices, by what a person would call them.
DISKS = {
    "sd": ("-device", "sdhci-pci", "-device", "sd-card,drive=disk"),
    "virtio": ("-device", "virtio-blk-pci,drive=disk"),
}
# An SD card is emulated command by command.
BOOT_LIMIT_SECONDS = 900.0
# A link that is down is noticed in half a minute, not in three.
SSH_ARGS = "-o ControlMaster=auto -o ControlPersist=30s -o ServerAliveInterval=5 -o ServerAliveCountMax=5"


def image() -> Path:
    """Folder with the board's vmlinuz, initrd and disk.img, built once."""
    kernel = artifacts.kernel(load_yaml(EXPERIMENTS / "kernel/6.1.yml"))
    files = [HERE / "gpt.py", *HERE.glob("foreign-*"), HERE / "build-foreign-board.sh"]
    files.append(artifacts.IMAGES / "initramfs-modules.sh")
    more = ",".join(artifacts.packages("fs", "observer"))
    path = artifacts.CACHE / f"foreign-board-{artifacts.hash_of(more, kernel.name, files=files)}"
    what = "make the disk of a foreign board (Debian 12, arm64)"
    command = [str(HERE / "build-foreign-board.sh"), str(path), str(kernel), more]
    return artifacts.ensure(path, what, lambda: artifacts.run(command, "foreign-board"), mib=2500)


@dataclass(frozen=True)
class Machine(qemu.Machine):
    """QEMU's command line; disk: a key of DISKS."""

    disk: str = "sd"

    def arguments(self) -> list[str]:
        """The whole command line, for a process that works in `folder`."""
        return [
            qemu.QEMU,
            *("-machine", "virt,gic-version=3", "-accel", "tcg", "-cpu", "cortex-a72", "-smp", "1"),
            *("-m", f"{self.memory_mib}M", "-nodefaults", "-display", "none", "-serial", "file:serial.log"),
            *("-kernel", "image/vmlinuz", "-initrd", "image/initrd"),
            *("-append", "console=ttyAMA0 loglevel=4 mitigations=off"),
            *("-qmp", "unix:qmp,server=on,wait=off"),
            # what is written is in a file without a name, in TMPDIR
            *("-drive", "if=none,id=disk,file=image/disk.img,format=raw,snapshot=on"),
            *DISKS[self.disk],
            *("-netdev", f"user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22"),
            *("-device", "virtio-net-pci,netdev=net,romfile="),
            *("-device", "virtio-rng-pci"),
            *("-fw_cfg", "name=opt/commitpath/host_key,file=keys/host"),
            *("-fw_cfg", "name=opt/commitpath/authorized_keys,file=keys/id.pub"),
        ]

    def link_files(self) -> None:
        """Give what lies elsewhere a name in the folder."""
        for name, place in (("image", self.image), ("keys", self.keys)):
            (self.folder / name).symlink_to(place.absolute())


@dataclass(frozen=True)
class ForeignBoard:
    """A board that is up; name: the inventory's, for BOARD."""

    name: str
    login: Login
    machine: Machine
    process: "subprocess.Popen[bytes]"
    monitor: qemu.Monitor

    def said(self, script: str) -> str:
        """What a script prints on the board."""
        done = subprocess.run(self.login.ssh(script), capture_output=True, text=True, check=True)
        return done.stdout

    def link(self, up: bool) -> None:
        """Plug the network's cable, or pull it."""
        self.monitor.qmp.cmd("set_link", name="net", up=up)

    def cut_power(self) -> None:
        """Reset the machine at once: what its kernel had in memory is lost. It boots anew."""
        self.monitor.command("system_reset")

    def wait_up(self) -> None:
        """Wait until SSH answers."""
        wait_until("SSH answers", BOOT_LIMIT_SECONDS, self.process, self.machine, self.answers)

    def answers(self) -> bool:
        """Whether SSH answers now; not asked too often, as each try costs the board a second."""
        return answers(self.login) or bool(time.sleep(0.5))

    def entry(self, **variables: object) -> dict[str, object]:
        """What a user would write of it."""
        return {
            "board_device": "/dev/disk/by-partlabel/commitpath",
            "board_device_bytes": PARTITION_BYTES,
            "ansible_ssh_args": SSH_ARGS,
            **self.login.ansible(),
            **variables,
        }


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Where programs that are started meanwhile make their temporary files."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before


@contextmanager
def named(name: str, entry: dict[str, object]) -> Iterator[None]:
    """A board in an inventory file of its own."""
    inventory = ansible.PLAYBOOKS / f"inventory/{name}.local.yml"
    part = inventory.with_suffix(".part")
    part.write_text(yaml.safe_dump({"boards": {"hosts": {name: entry}}}))
    # another test may just be reading the folder
    part.replace(inventory)
    try:
        yield
    finally:
        inventory.unlink()
        # made by the commands that held the board, which have ended; nobody else has this name
        (artifacts.CACHE / f"board-{name}.lock").unlink(missing_ok=True)


@contextmanager
def board(disk: str) -> Iterator[ForeignBoard]:
    """A board with its disk as `disk` of DISKS, in the inventory under a name of its own."""
    of_board, port = image(), free_port()
    with scratch.folder(artifacts.CACHE / "vm", "vm", scratch.PRIVATE) as folder:
        keys = folder / "own-keys"
        make_keys(keys)
        machine = Machine(of_board, folder, keys, 1024, "real", 1, folder / "ram", False, port, disk=disk)
        with ExitStack() as stack:
            with temporary_files_in(folder):
                process = stack.enter_context(qemu.running(machine))
            monitor = stack.enter_context(qemu.Monitor(machine, process))
            up = ForeignBoard(f"foreign-{disk}-{os.getpid()}", Login(port, keys), machine, process, monitor)
            up.wait_up()
            with named(up.name, up.entry()):
                yield up
