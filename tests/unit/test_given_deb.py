"""KERNEL=deb: a user's kernel package is identified by its content, or refused in one line before a build."""

import shutil
import subprocess
from pathlib import Path

import pytest

from base.data import load_yaml
from base.errors import BadInputError, LabError
from commitpath.cells import from_variables as cells
from commitpath.cells import identities, observers
from images import given
from images.given import deb

RELEASE = "6.99.1-own"
NULL_BLK, FLASH = {"PROBES": "none"}, {"PROBES": "none", "DEVICE": "emmc-5.0"}


def config(without: str = "") -> str:
    of_observers = [option for one in observers.profiles().values() for option in one.get("options", [])]
    options = [*load_yaml(given.OPTIONS)["board"], *of_observers, "BLK_DEV_NULL_BLK"]
    return "".join(f"CONFIG_{name}=y\n" for name in options if name != without)


def package(folder: Path, name: str, files: dict[str, bytes], architecture: str = "arm64") -> Path:
    """A package of those files."""
    made = folder / f"{name}_1_{architecture}.deb"
    root = folder / "root"
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: {architecture}\nMaintainer: none\nDescription: none\n"
    )
    subprocess.run(["dpkg-deb", "-Znone", "-b", str(root), str(made)], check=True, capture_output=True)
    shutil.rmtree(root)
    return made


def image(folder: Path, content: bytes = b"MZ", without: str = "", architecture: str = "arm64") -> Path:
    files = {f"boot/vmlinuz-{RELEASE}": content, f"boot/config-{RELEASE}": config(without).encode()}
    return package(folder, f"linux-image-{RELEASE}", files, architecture)


def headers(folder: Path, machine: bytes) -> Path:
    name = f"linux-headers-{RELEASE}"
    return package(folder, name, {f"usr/src/{name}/{deb.FIXDEP}": bytes(18) + machine + bytes(44)})


def machine_of_host(ours: bool) -> bytes:
    return next(code for code, name in deb.MACHINES.items() if (name == deb.host()) == ours)


def test_it_is_told_by_its_content(tmp_path: Path) -> None:
    """Wherever it is; another content is another cell, and no path is in one."""
    first = image(tmp_path)
    (tmp_path / "other").mkdir()
    moved = shutil.copy(first, tmp_path / "other/any name.deb")
    a, b = (cells.make_cell({**NULL_BLK, "KERNEL": f"deb:{path}"}) for path in (first, moved))
    assert identities.cell_id(a) == identities.cell_id(b) and a.kernel == b.kernel
    assert str(tmp_path) not in str(a)
    assert a.profiles["kernel"]["release"] == RELEASE
    other = cells.make_cell({**NULL_BLK, "KERNEL": f"deb:{image(tmp_path / 'other', b'MZ2')}"})
    assert identities.cell_id(other) != identities.cell_id(a)


def test_headers_beside_it_are_in_no_id(tmp_path: Path) -> None:
    """A driver of ours and watching need them; a program of another machine is none."""
    path = image(tmp_path)
    bare = cells.make_cell({**NULL_BLK, "KERNEL": f"deb:{path}"})
    lacking = f"linux-headers-{RELEASE}_1_\\*.deb is not in the same folder"
    for variables in (FLASH, {}):
        with pytest.raises(BadInputError, match=lacking):
            cells.make_cell({**variables, "KERNEL": f"deb:{path}"})
    for ours in (False, True):
        given.look.cache_clear()
        headers(tmp_path, machine_of_host(ours)).touch()
        if not ours:
            with pytest.raises(BadInputError, match=r"is a program for .*; use DEVICE=constant"):
                cells.make_cell({**FLASH, "KERNEL": f"deb:{path}"})
    cells.make_cell({**FLASH, "KERNEL": f"deb:{path}"})
    made = cells.make_cell({**NULL_BLK, "KERNEL": f"deb:{path}"})
    assert identities.cell_id(made) == identities.cell_id(bare)


def test_what_cannot_be_booted_is_one_line(tmp_path: Path) -> None:
    text = tmp_path / "text.deb"
    text.write_text("no package")
    folders = [tmp_path / str(number) for number in range(4)]
    for folder in folders:
        folder.mkdir()
    bad = {
        tmp_path / "none.deb": "no such file",
        text: "not a Debian package",
        image(folders[0], architecture="amd64"): "a package for amd64; the board is arm64",
        package(folders[1], "linux-image-arm64", {"usr/share/x": b""}): "there is no kernel in it",
        image(folders[2], without="VIRTIO_BLK"): "its config lacks CONFIG_VIRTIO_BLK for the virtual board$",
        image(folders[3], without="BLK_DEV_NULL_BLK"): "lacks CONFIG_BLK_DEV_NULL_BLK for DEVICE=constant$",
    }
    for path, says in bad.items():
        with pytest.raises(BadInputError, match=says) as error:
            cells.make_cell({**NULL_BLK, "KERNEL": f"deb:{path}"})
        assert len(str(error.value).splitlines()) == 1
    with pytest.raises(BadInputError, match=r"lacks CONFIG_F2FS_FS for FS=f2fs$"):
        cells.make_cell({**NULL_BLK, "FS": "f2fs", "KERNEL": f"deb:{image(tmp_path)}"})


def test_what_changes_after_it_was_looked_at_is_not_taken(tmp_path: Path) -> None:
    path = image(tmp_path)
    profile = cells.make_cell({**NULL_BLK, "KERNEL": f"deb:{path}"}).profiles["kernel"]
    assert given.parts(profile) == [str(path)]
    image(tmp_path, b"MZ of another")
    with pytest.raises(LabError, match="has changed since it was inspected"):
        given.parts(profile)
    with pytest.raises(LabError, match="give KERNEL= its path again"):
        given.parts({**profile, "deb": 64 * "0"})
