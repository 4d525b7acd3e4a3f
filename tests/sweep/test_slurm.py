"""Unusable Slurm is refused in one line; sacct is preferred to squeue; its packages are only on request."""

from pathlib import Path

import one_slurm
import pytest
import yaml

from base.errors import BadInputError, LabError
from commitpath.host import ansible, packages
from commitpath.sweep import snakemake


def fake(folder: Path, **commands: str) -> None:
    """Slurm's commands, as shell scripts."""
    for name, script in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        ({}, "no sbatch on this machine"),
        (
            {"sacct": "exit 1", "scontrol": "echo slurm_load_ctl_conf error: refused >&2; exit 1"},
            "does not answer; scontrol: slurm_load_ctl_conf error: refused",
        ),
        ({"sacct": "exit 1", "scontrol": "echo 'MinJobAge = 2 sec'"}, "forgets a job 2 s after its end"),
    ],
)
def test_a_slurm_that_cannot_be_used_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, commands: dict[str, str], says: str
) -> None:
    fake(tmp_path, **commands, **({"sbatch": ""} if commands else {}))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError) as caught:
        snakemake.slurm_arguments()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_accounts_are_preferred_to_the_queue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake(tmp_path, sbatch="", sacct="", scontrol="echo 'MinJobAge = 300 sec'")
    assert snakemake.status_command() == "sacct"
    fake(tmp_path, sacct="exit 1")
    assert snakemake.status_command() == "squeue"


def test_slurm_is_installed_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = yaml.safe_load((ansible.PLAYBOOKS / "host.yml").read_text())[0]["vars"]["slurm_packages"]
    assert listed == list(one_slurm.PACKAGES)
    monkeypatch.delenv("COMMITPATH_SLURM", raising=False)
    assert "slurm_packages" not in packages.package_lists(with_tests=True)
    monkeypatch.setenv("COMMITPATH_SLURM", "yes")
    assert "slurm_packages" in packages.package_lists(with_tests=True)
    assert "slurm_packages" not in packages.package_lists(with_tests=False)
    monkeypatch.setenv("COMMITPATH_SLURM", "no")
    assert "slurm_packages" not in packages.package_lists(with_tests=True)
    monkeypatch.setenv("COMMITPATH_SLURM", "off")
    with pytest.raises(BadInputError, match="COMMITPATH_SLURM is yes or no"):
        packages.package_lists(with_tests=True)
