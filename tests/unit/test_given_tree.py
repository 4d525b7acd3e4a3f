"""KERNEL=tree: a build tree is identified by its content and copied, or refused with what is missing."""

import shutil
import subprocess
from pathlib import Path

import pytest

from base.data import load_yaml
from base.errors import BadInputError, LabError
from base.paths import ROOT
from commitpath.cells import from_variables as cells
from commitpath.cells import identities, observers
from images import given
from images.given import deb, tree
from model.cell import Cell

RELEASE = "6.99.1-own"
# of a .config
HEAD = f"#\n# Automatically generated file; DO NOT EDIT.\n# Linux/{{}} {RELEASE} Kernel Configuration\n#\n"
NULL_BLK = {"PROBES": "none"}


def write(folder: Path, name: str, content: bytes | str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def configure(folder: Path, without: str = "", more: str = "") -> None:
    """The config that the tree was built with."""
    of_observers = [option for one in observers.profiles().values() for option in one.get("options", [])]
    options = [*load_yaml(given.OPTIONS)["board"], *of_observers, "BLK_DEV_NULL_BLK"]
    lines = "".join(f"CONFIG_{name}=y\n" for name in options if name != without) + more
    write(folder, ".config", f"{HEAD.format('arm64')}{lines}")
    write(folder, tree.BUILT_CONFIG, lines)


def image(release: str = RELEASE, more: bytes = b"") -> bytes:
    return bytes(tree.MAGIC_AT) + tree.MAGIC + b"Linux version %s (me)" % release.encode() + more


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A tree as it is after `make Image modules`, with a module."""
    given.look.cache_clear()
    folder = tmp_path / "a kernel's tree"
    configure(folder)
    write(folder, tree.RELEASE, f"{RELEASE}\n")
    write(folder, tree.IMAGE, image())
    write(folder, tree.MODULES, "fs/one/one.o\n")
    write(folder, "fs/one/one.ko", "of one")
    write(folder, "modules.builtin", "kernel/fs/two/two.ko\n")
    write(folder, tree.SYMBOLS, "0x0\ta\tvmlinux\tEXPORT_SYMBOL\t\n")
    write(folder, "Makefile", "all:\n")
    write(folder, "scripts/Kbuild.include")
    write(folder, "include/linux/a.h", "of a")
    ours = next(code for code, name in deb.MACHINES.items() if name == deb.host())
    write(folder, deb.FIXDEP, bytes(18) + ours + bytes(44))
    write(folder, "scripts/mod/modpost")
    write(folder, "vmlinux")
    return folder


def make(folder: Path, **variables: str) -> Cell:
    given.look.cache_clear()
    return cells.make_cell({**NULL_BLK, **variables, "KERNEL": f"tree:{folder}"})


def refused(folder: Path, says: str, **variables: str) -> None:
    with pytest.raises(BadInputError, match=says) as error:
        make(folder, **variables)
    assert len(str(error.value).splitlines()) == 1


def test_a_tree_is_told_by_its_content(built: Path, tmp_path: Path) -> None:
    """Wherever it is; each of image, config, symbols and modules is part of it, and no path."""
    cell = make(built)
    assert str(tmp_path) not in str(cell)
    assert cell.profiles["kernel"]["release"] == RELEASE
    moved = Path(shutil.copytree(built, tmp_path / "moved"))
    assert identities.cell_id(make(moved)) == identities.cell_id(cell)
    write(moved, "drivers/one.c", "not built")
    assert identities.cell_id(make(moved)) == identities.cell_id(cell)
    for name in (tree.IMAGE, tree.SYMBOLS, "fs/one/one.ko"):
        other = Path(shutil.copytree(built, tmp_path / "other"))
        with (other / name).open("ab") as file:
            file.write(b"more")
        assert identities.cell_id(make(other)) != identities.cell_id(cell), name
        shutil.rmtree(other)
    configure(moved, more="CONFIG_ANOTHER=y\n")
    assert identities.cell_id(make(moved)) != identities.cell_id(cell)


@pytest.mark.parametrize("kind", given.kinds())
def test_a_kind_without_a_path_is_refused(kind: str) -> None:
    with pytest.raises(BadInputError, match=f"^KERNEL={kind}:: a path must follow the colon$"):
        cells.make_cell({**NULL_BLK, "KERNEL": f"{kind}:"})


@pytest.mark.parametrize("name", [".config", *tree.BUILT, "fs/one/one.ko"])
def test_what_an_unbuilt_tree_lacks_is_named(built: Path, name: str) -> None:
    (built / name).unlink()
    refused(built, f"there is no {name.replace('.', '[.]')} \\(`make ARCH=arm64 Image modules`")


def test_nothing_is_copied_that_a_link_leads_to(built: Path, tmp_path: Path) -> None:
    """Of a file, or of a folder above it."""
    outside = tmp_path / "outside"
    shutil.copytree(built, outside)
    for name in (tree.IMAGE, "fs/one/one.ko"):
        (built / name).unlink()
        (built / name).symlink_to(outside / name)
        refused(built, f"{name} is a link, or in a linked folder")
        (built / name).unlink()
        shutil.copy(outside / name, built / name)
    shutil.rmtree(built / "fs")
    (built / "fs").symlink_to(outside / "fs")
    refused(built, "fs/one/one.ko is a link, or in a linked folder")
    # the tree itself may be behind one
    (tmp_path / "link").symlink_to(outside)
    make(tmp_path / "link")


def test_another_architecture_is_named(built: Path) -> None:
    """Whether it was built or not."""
    write(built, ".config", HEAD.format("x86"))
    (built / tree.IMAGE).unlink()
    refused(built, "its .config is for x86; the board is arm64")


def test_what_does_not_belong_together_is_refused(built: Path) -> None:
    refused(built / "none", "no such folder")
    write(built, tree.IMAGE, bytes(1000))
    refused(built, "arch/arm64/boot/Image is not an arm64 kernel")
    write(built, tree.IMAGE, image("6.99.1-older"))
    refused(built, f"is not {RELEASE}, as in include/config/kernel.release")
    write(built, tree.IMAGE, image())
    write(built, tree.MODULES, "../one.o\n")
    refused(built, "names ../one.ko, which is not in the tree")
    write(built, tree.MODULES)
    write(built, tree.RELEASE, "../x\n")
    refused(built, "is not a kernel release")
    write(built, tree.RELEASE, f"{RELEASE}\n")
    with (built / ".config").open("a") as file:
        file.write("CONFIG_NEW=y\n")
    refused(built, "its .config has changed since it was built")


def test_what_its_config_lacks_is_named(built: Path) -> None:
    """Of the board, of an observer, and of modules of ours."""
    make(built, PROBES="block")
    for option in ("VIRTIO_BLK", "HIGH_RES_TIMERS", "KPROBES"):
        configure(built, without=option)
        refused(built, f"its config lacks CONFIG_{option} for the virtual board$")
    for option in ("DEBUG_INFO_BTF", "KPROBE_EVENTS"):
        configure(built, without=option)
        make(built)
        refused(built, f"lacks CONFIG_{option} for the observer probes", PROBES="block")
    for option, why in (("MODULE_SIG_FORCE", "it loads only signed modules"), ("CC_IS_CLANG", "with clang")):
        configure(built, more=f"CONFIG_{option}=y\n")
        make(built)
        refused(built, f"cannot be watched: .*{why}.*use PROBES=none", PROBES="block")
        refused(built, f"cannot be built for .*{why}.*; use DEVICE=constant", DEVICE="emmc-5.0")


def test_all_that_the_config_of_an_unbuilt_tree_lacks_is_named_at_once(tmp_path: Path) -> None:
    """Before it is built, which takes tens of minutes."""
    configured = tmp_path / "linux"
    configure(configured, without="KPROBES")
    (configured / tree.BUILT_CONFIG).unlink()
    refused(
        configured,
        f"^KERNEL=tree:{configured}: its config lacks CONFIG_KPROBES for the virtual board; "
        "CONFIG_F2FS_FS for FS=f2fs$",
        FS="f2fs",
    )
    configure(configured)
    (configured / tree.BUILT_CONFIG).unlink()
    refused(configured, "there is no include/config/auto[.]conf", PROBES="block")


def test_modules_need_its_source_and_programs_of_here(built: Path, tmp_path: Path) -> None:
    """In the tree, or where an O= folder links to."""
    away = tmp_path / "source"
    (built / "source").symlink_to(away)
    refused(built, f"there is no scripts/Kbuild.include in {away}", DEVICE="emmc-5.0")
    write(away, "scripts/Kbuild.include")
    make(built, DEVICE="emmc-5.0")
    write(built, deb.FIXDEP, bytes(64))
    refused(built, "is a program for another machine", DEVICE="emmc-5.0")
    for name in ("vmlinux", "scripts/mod/modpost", deb.FIXDEP):
        (built / name).unlink()
        refused(built, f"there is no {name} in it", DEVICE="emmc-5.0")


def laid_out(folder: Path, made: Path) -> Path:
    profile = make(folder).profiles["kernel"]
    subprocess.run([ROOT / "images/kernels/tree.sh", made, *given.parts(profile)], check=True)
    return made


def test_what_is_copied(built: Path, tmp_path: Path) -> None:
    """Image, modules and what modules are built with; of an O= folder, over that of its source."""
    configure(built, without="DEBUG_INFO_BTF")
    made = laid_out(built, tmp_path / "made")
    at = made / "lib/modules" / RELEASE
    headers = made / "src" / f"linux-headers-{RELEASE}"
    assert (made / "vmlinuz").read_bytes() == image()
    assert (at / "kernel/fs/one/one.ko").read_text() == "of one"
    assert (at / "modules.order").read_text() == "kernel/fs/one/one.ko\n"
    assert (headers / "include/linux/a.h").read_text() == "of a"
    assert (headers / "Makefile").read_text() == "all:\n" and (headers / tree.SYMBOLS).exists()
    away = tmp_path / "source"
    for name in ("Makefile", "scripts/Kbuild.include", "include/linux/a.h"):
        write(away, name, "of the source")
    write(away, "arch/arm64/Makefile", "of the source")
    (built / "source").symlink_to(away)
    headers = laid_out(built, tmp_path / "made2") / "src" / f"linux-headers-{RELEASE}"
    for name in ("Makefile", "arch/arm64/Makefile"):
        assert (headers / name).read_text() == "of the source"
    assert (headers / "include/linux/a.h").read_text() == "of a"


def test_a_kernel_without_modules_is_copied(built: Path, tmp_path: Path) -> None:
    """All that it has is built in."""
    configure(built, without="DEBUG_INFO_BTF")
    write(built, tree.MODULES)
    at = laid_out(built, tmp_path / "made") / "lib/modules" / RELEASE
    assert not list((at / "kernel").iterdir())
    assert (at / "modules.builtin").read_text() == "kernel/fs/two/two.ko\n"


def test_a_tree_that_changes_after_it_was_looked_at_is_not_taken(built: Path) -> None:
    profile = make(built).profiles["kernel"]
    assert given.parts(profile) == [str(built), str(built)]
    write(built, "fs/one/one.ko", "of another")
    with pytest.raises(LabError, match="has changed since it was inspected"):
        given.parts(profile)
