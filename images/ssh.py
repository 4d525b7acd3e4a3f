"""SSH access to a started board: make keys, choose a port, return ssh command lines and Ansible variables."""

import shlex
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from base import scratch


@dataclass(frozen=True)
class Login:
    """SSH access to a started board, as Ansible variables."""

    port: int
    keys: Path

    def ssh_options(self) -> list[str]:
        """Return options for ssh: only this board's keys, and no settings of the user's."""
        return [
            *("-F", "none"),
            *("-o", f"IdentityFile={quoted(self.keys / 'id')}"),
            *("-o", f"UserKnownHostsFile={quoted(self.keys / 'known_hosts')}"),
            *("-o", "StrictHostKeyChecking=yes", "-o", "HostKeyAlias=board"),
            *("-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR"),
            # give up a connection only after five minutes without an answer: boards on a busy host are slow
            *("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=20"),
        ]

    def ssh(self, *command: str) -> list[str]:
        """Return the command line of an SSH call."""
        return ["ssh", *self.ssh_options(), "-p", str(self.port), "root@127.0.0.1", *command]

    def ansible(self) -> dict[str, str | int]:
        """Return Ansible's connection variables."""
        return {
            "ansible_host": "127.0.0.1",
            "ansible_port": self.port,
            "ansible_user": "root",
            "ansible_ssh_common_args": shlex.join(self.ssh_options()),
        }


def quoted(path: Path) -> str:
    """Return a path for ssh_config(5): one word, with % escaped."""
    text = str(path)
    for character in ("\\", '"'):
        text = text.replace(character, f"\\{character}")
    return f'"{text.replace("%", "%%")}"'


def make_keys(folder: Path) -> None:
    """Make a key pair and a host key for this checkout's boards, once."""
    folder.mkdir(parents=True, exist_ok=True, mode=scratch.PRIVATE)
    scratch.make_private(folder)
    if (folder / "known_hosts").exists():
        return
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
    """Return a loopback port that is not in use now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(login: Login) -> bool:
    """Return whether SSH works now."""
    done = subprocess.run(login.ssh("-o", "ConnectTimeout=5", "true"), capture_output=True, check=False)
    return done.returncode == 0
