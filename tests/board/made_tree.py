"""A kernel's build tree of Debian's packages, as `make Image modules` leaves one: nothing is compiled."""

import lzma
import shutil
from pathlib import Path


def make(kernel: Path, tree: Path) -> None:
    """Make TREE of a kernel as images/kernels/deb.sh lays it out, whose modules may be compressed."""
    (modules,) = (kernel / "lib/modules").iterdir()
    (common,) = (kernel / "src").glob("linux-headers-*-common")
    (kbuild,) = (kernel / "src").glob("linux-kbuild-*")
    shutil.copytree(common, tree, symlinks=True, ignore=shutil.ignore_patterns("scripts", "tools"))
    for source in (common, kbuild):
        for name in ("scripts", "tools"):
            if (source / name).exists():
                shutil.copytree(source / name, tree / name, dirs_exist_ok=True)
    # of its O= folder
    no = shutil.ignore_patterns("Makefile", "scripts", "tools")
    shutil.copytree(kernel / "src" / f"linux-headers-{modules.name}", tree, ignore=no, dirs_exist_ok=True)
    image = tree / "arch/arm64/boot/Image"
    image.parent.mkdir(parents=True)
    shutil.copy(kernel / "vmlinuz", image)
    order = []
    for line in (modules / "modules.order").read_text().split():
        packed = modules / f"{line}.xz"
        # deb.sh leaves out drivers that no virtual board has
        if packed.exists():
            unpacked = tree / line.removeprefix("kernel/")
            unpacked.parent.mkdir(parents=True, exist_ok=True)
            unpacked.write_bytes(lzma.decompress(packed.read_bytes()))
            order.append(f"{line}\n")
    (tree / "modules.order").write_text("".join(order))
    for name in ("modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(modules / name, tree / name)
