"""CLOCK=kvm is refused, at once and in one line, where it cannot be."""

import platform
from pathlib import Path

import commands
import pytest

from base.errors import BadInputError
from images import kvm, qemu


def test_other_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(BadInputError, match="needs an arm64 host, and this one is x86_64; use CLOCK=virtual"):
        kvm.check()


def test_no_kvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(kvm, "DEVICE", str(tmp_path / "kvm"))
    with pytest.raises(BadInputError, match="kvm is missing, or this user may not open it"):
        kvm.check()
    (tmp_path / "kvm").touch()
    kvm.check()


@pytest.mark.skipif(platform.machine() == "aarch64", reason="this host may have it")
def test_asked_for_here() -> None:
    done = commands.call("experiment", "CLOCK=kvm")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("commitpath: CLOCK=kvm: the board needs an arm64 host")


def test_machine_is_the_hosts() -> None:
    """Only under CLOCK=kvm; every other clock is emulation."""
    folder = Path("folder")
    for clock in ("kvm", "virtual", "provision", "real"):
        line = " ".join(qemu.Machine(folder, folder, folder, 64, clock, 2, folder, False).arguments())
        assert ("-accel kvm -cpu host" in line) == (clock == "kvm")
        assert ("-icount" in line) == (clock in ("virtual", "provision"))
