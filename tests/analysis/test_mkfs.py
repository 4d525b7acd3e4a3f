"""mkfs options compared with the superblock; options of mkfs and mount that are refused."""

import pytest

from analysis.adapters.board import parse_superblock
from model import filesystems
from model.requested import mkfs, mount

# dumpe2fs -h and dump.f2fs -d 1 on the board
EXT4 = parse_superblock("""\
Filesystem features:      has_journal ext_attr dir_index filetype extent 64bit metadata_csum
Block size:               4096
Inode size:               256
Total journal size:       64M
""")
F2FS = parse_superblock("""\
Info: superblock features = 8 :  extra_attr
segs_per_sec                  \t\t[0x       1 : 1]
""")


def compare(kind: str, options: str, superblock: dict[str, str]) -> list[tuple[str, str, str | None]]:
    """(option, requested, in effect) of each option."""
    return [
        (name, value, mkfs.effective(kind, name, value, superblock))
        for name, value in mkfs.requested(kind, options).items()
    ]


def test_what_was_asked_for_is_there() -> None:
    asked = "-q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 -I256 -J size=64 -O extent,^huge_file"
    assert compare("ext4", asked, EXT4) == [
        ("-b", "4096", "4096"),
        ("-I", "256", "256"),
        ("-J", "size=64", "size=64"),
        ("-O", "extent,^huge_file", "extent,^huge_file"),
    ]
    assert compare("f2fs", "-q -O extra_attr -s 1", F2FS) == [
        ("-O", "extra_attr", "extra_attr"),
        ("-s", "1", "1"),
    ]


def test_what_is_not_there_differs() -> None:
    asked = "-b 4096 -b 1024 -J size=8 -O ^has_journal,quota"
    assert compare("ext4", asked, EXT4) == [
        ("-b", "1024", "4096"),
        ("-J", "size=8", "size=64"),
        ("-O", "^has_journal,quota", ""),
    ]
    assert compare("f2fs", "-O inode_checksum -s 2", F2FS) == [("-O", "inode_checksum", ""), ("-s", "2", "1")]


@pytest.mark.parametrize(
    ("kind", "options", "refused"),
    [
        ("ext4", "-J device=LABEL=other", ["-Jdevice=LABEL=other"]),
        ("ext4", "-F -U clear -L name", ["-F", "-Uclear", "-Lname"]),
        ("ext4", "-E offset=4096", ["-Eoffset=4096"]),
        ("ext4", "-O extent,journal_dev", ["-Oextent,journal_dev"]),
        # a bit's name: journal_dev again
        ("ext4", "-O feature_i3", ["-Ofeature_i3"]),
        ("f2fs", "-O device_alias", ["-Odevice_alias"]),
        ("ext4", "-q /dev/sda1 100", ["/dev/sda1", "100"]),
        ("f2fs", "-q -O extra_attr -s 1 -z 1", []),
        ("xfs", "-q -b size=4096 -m reflink=0,rmapbt=1 -l size=67108864 -d agcount=2", []),
        (
            "xfs",
            "-l logdev=/dev/sda1,size=1 -r rtdev=/dev/sda1 -d name=/dev/sda1 -m uuid=x -f",
            ["-llogdev=/dev/sda1,size=1", "-rrtdev=/dev/sda1", "-dname=/dev/sda1", "-muuid=x", "-f"],
        ),
        ("xfs", "-c options=/etc/passwd -p proto -K", ["-coptions=/etc/passwd", "-pproto", "-K"]),
    ],
)
def test_only_what_is_allowed(kind: str, options: str, refused: list[str]) -> None:
    assert mkfs.refused(kind, options) == refused


# as /proc/mounts shows what was asked for: fs/xfs/xfs_super.c
@pytest.mark.parametrize("option", ["allocsize=1024k", "discard"])
def test_a_mount_option_that_is_shown_as_written(option: str) -> None:
    assert mount.refused("xfs", [option]) == []


def test_what_the_kernel_does_not_show_is_the_filesystems() -> None:
    assert filesystems.by_name("ext4").hidden["commit=5"] == "commit="
    # the kernel shows dioread_lock by its other name, so that it could not be read back
    assert mount.refused("ext4", ["dioread_lock", "nodioread_nolock"]) == ["dioread_lock"]
    assert "commit=5" not in filesystems.by_name("xfs").hidden
