"""Install the host's missing Debian packages, of the lists in playbooks/host.yml."""

import os
import subprocess

import yaml

from base.errors import BadInputError, LabError
from base.progress import step
from commitpath.host import ansible
from images import artifacts


def slurm_wanted() -> bool:
    """Return whether the tests may start Slurm on this machine."""
    value = os.environ.get("COMMITPATH_SLURM", "no")
    if value not in ("yes", "no"):
        raise BadInputError(f"COMMITPATH_SLURM={value}: COMMITPATH_SLURM is yes or no")
    return value == "yes"


def package_lists(with_tests: bool, virtual: bool = True) -> list[str]:
    """Return the names of the needed lists of playbooks/host.yml. virtual: for the virtual board, too."""
    long = ["long_packages"] if os.environ.get("COMMITPATH_TESTS") == "long" else []
    tests = ["test_packages", *long, *(["slurm_packages"] if slurm_wanted() else [])]
    boards = ["virtual_packages"] if virtual or with_tests else []
    return ["host_packages", *boards, *(tests if with_tests else [])]


def missing_packages(with_tests: bool, virtual: bool = True) -> list[str]:
    """Return the needed packages of playbooks/host.yml that are not installed."""
    lists = yaml.safe_load((ansible.PLAYBOOKS / "host.yml").read_text())[0]["vars"]
    wanted = [package for name in package_lists(with_tests, virtual) for package in lists[name]]
    try:
        done = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", *wanted],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise LabError("dpkg-query: not a Debian machine; use bin/commitpath --container") from error
    have = {line.split()[0] for line in done.stdout.splitlines() if line.split()[1:] == ["ii"]}
    return [name for name in wanted if name not in have]


def needs_password() -> bool:
    """Return whether sudo needs a password, which Ansible then reads from the terminal."""
    if os.geteuid() == 0:
        return False
    try:
        return subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode != 0
    except OSError as error:
        raise LabError("installing host packages needs root or sudo, and sudo is missing") from error


def has_terminal() -> bool:
    """Return whether this process has a terminal, from which Ansible reads a password."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def ensure_packages(with_tests: bool = False, virtual: bool = True) -> None:
    """Install missing packages by playbooks/host.yml, the only step that needs root."""
    if missing := missing_packages(with_tests, virtual):
        options = ["--ask-become-pass"] if needs_password() else []
        if options and not has_terminal():
            raise LabError(
                "installing host packages: sudo needs a password, and there is no terminal to type it; first "
                f"run: sudo apt-get install --no-install-recommends {' '.join(missing)}"
            )
        with step(f"install host packages: {' '.join(missing)}", alone=not options):
            variables = {"wanted_packages": missing}
            ansible.play("host.yml", variables, artifacts.CACHE / "log/host.json", *options)
    if missing := missing_packages(with_tests, virtual):
        raise LabError(f"host packages are still missing: {' '.join(missing)}")
