"""Options of mkfs and mount that contradict each other, or FS, are refused in the plan: no board is begun."""

import pytest

from analysis import mkfs
from base.errors import BadInputError
from commitpath.axes import axes
from commitpath.cell import make_cell


@pytest.mark.parametrize(
    ("given", "says"),
    [
        # what FS says, otherwise or once more
        (
            "MOUNT_OPTIONS=data=writeback",
            "MOUNT_OPTIONS: data=writeback: FS=ext4-ordered mounts with data=ordered",
        ),
        ("MOUNT_OPTIONS=data=ordered", "MOUNT_OPTIONS: data=ordered: FS=ext4-ordered mounts with it already"),
        (
            "MOUNT_OPTIONS=noatime,data=journal FS=ext4-writeback",
            "FS=ext4-writeback mounts with data=writeback",
        ),
        # two of one kind
        ("MOUNT_OPTIONS=commit=5,commit=10", "MOUNT_OPTIONS: commit=10: MOUNT_OPTIONS mounts with commit=5"),
        ("MOUNT_OPTIONS=barrier=0,nobarrier", "nobarrier: MOUNT_OPTIONS mounts with barrier=0"),
        ("MOUNT_OPTIONS=delalloc,nodelalloc", "nodelalloc: MOUNT_OPTIONS mounts with delalloc"),
        ("MOUNT_OPTIONS=discard,nodiscard FS=f2fs", "nodiscard: MOUNT_OPTIONS mounts with discard"),
        ("MOUNT_OPTIONS=logbufs=2,logbufs=4 FS=xfs", "logbufs=4: MOUNT_OPTIONS mounts with logbufs=2"),
        # what the kernel refuses
        (
            "MKFS_OPTIONS=-O_^has_journal",
            "-O ^has_journal cannot be with data=ordered of FS=ext4-ordered: it has no",
        ),
        ("MKFS_OPTIONS=-O_^has_journal,fast_commit FS=ext4-journal", "; use FS=ext4-nojournal"),
        (
            "MOUNT_OPTIONS=data=ordered FS=ext4-nojournal",
            "MOUNT_OPTIONS: data=ordered cannot be with -O ^has_journal",
        ),
        (
            "MOUNT_OPTIONS=commit=30 FS=ext4-nojournal",
            "MOUNT_OPTIONS: commit=30 cannot be with -O ^has_journal of FS",
        ),
        (
            "MOUNT_OPTIONS=journal_checksum FS=ext4-nojournal",
            "journal_checksum cannot be with -O ^has_journal",
        ),
        (
            "MKFS_OPTIONS=-J_size=8 FS=ext4-nojournal",
            "MKFS_OPTIONS: -J size=8 cannot be with -O ^has_journal of FS",
        ),
        (
            "MOUNT_OPTIONS=delalloc FS=ext4-journal",
            "MOUNT_OPTIONS: delalloc cannot be with data=journal of FS",
        ),
        ("MOUNT_OPTIONS=dioread_nolock FS=ext4-journal", "dioread_nolock cannot be with data=journal"),
        ("MOUNT_OPTIONS=journal_async_commit", "journal_async_commit cannot be with data=ordered"),
        ("MOUNT_OPTIONS=mode=lfs,atgc FS=f2fs", "mode=lfs cannot be with atgc of MOUNT_OPTIONS"),
        # what mkfs refuses, or forgets
        ("MKFS_OPTIONS=-O_^extent", "MKFS_OPTIONS: -O ^extent needs -O ^64bit"),
        ("MKFS_OPTIONS=-O_meta_bg", "-O meta_bg needs -O ^resize_inode"),
        ("MKFS_OPTIONS=-C_65536", "-C 65536 needs -O bigalloc"),
        ("MKFS_OPTIONS=-b_8192", "MKFS_OPTIONS: -b 8192: a block is 1024, 2048 or 4096 bytes"),
        ("MKFS_OPTIONS=-O_^64bit_-O_quota", "MKFS_OPTIONS: -O is given by MKFS_OPTIONS already"),
        (
            "MKFS_OPTIONS=-O_^64bit FS=ext4-nojournal",
            "MKFS_OPTIONS: -O is given by FS=ext4-nojournal already",
        ),
        ("MKFS_OPTIONS=-b_1024_-b_2048", "MKFS_OPTIONS: -b is given by MKFS_OPTIONS already"),
        ("MKFS_OPTIONS=-O_compression FS=f2fs", "MKFS_OPTIONS: -O compression needs -O extra_attr"),
        ("MKFS_OPTIONS=-m_crc=0,reflink=1 FS=xfs", "MKFS_OPTIONS: -m crc=0 cannot be with -m reflink=1"),
        ("MKFS_OPTIONS=-i_size=256 FS=xfs", "MKFS_OPTIONS: -i size=256 needs -m crc=0"),
    ],
)
def test_a_contradiction_is_refused(given: str, says: str) -> None:
    variables = dict(word.replace("_-", " -").split("=", 1) for word in given.split())
    if "MKFS_OPTIONS" in variables:
        first, _, rest = variables["MKFS_OPTIONS"].partition("_")
        variables["MKFS_OPTIONS"] = f"{first} {rest}".replace("-O_", "-O ").replace("-b_", "-b ")
    with pytest.raises(BadInputError) as error:
        make_cell(variables)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "variables",
    [
        {"MOUNT_OPTIONS": "noatime,commit=30,nobarrier"},
        {"MKFS_OPTIONS": "-b 1024"},  # in place of the file's
        {"MKFS_OPTIONS": "-O ^extents,^64bit -I 256"},
        {"MKFS_OPTIONS": "-O bigalloc -C 65536"},
        {"MKFS_OPTIONS": "-J size=8 -O fast_commit"},
        {"FS": "ext4-journal", "MOUNT_OPTIONS": "nodelalloc,nodioread_nolock"},
        {"FS": "ext4-writeback", "MOUNT_OPTIONS": "journal_async_commit"},
        {"FS": "f2fs", "MKFS_OPTIONS": "-O extra_attr,compression", "MOUNT_OPTIONS": "mode=lfs"},
        {"FS": "xfs", "MKFS_OPTIONS": "-m crc=0,reflink=0 -i size=256", "MOUNT_OPTIONS": "logbufs=2"},
    ],
)
def test_what_fits_together_is_taken(variables: dict[str, str]) -> None:
    make_cell(variables)


@pytest.mark.parametrize("name", axes()["fs"].files())
def test_each_filesystem_of_ours_fits_together(name: str) -> None:
    make_cell({"FS": name})


def test_parts_are_the_values_of_lists_one_by_one() -> None:
    assert mkfs.parts("ext4", "-q -b 4096 -O ^has_journal,quota -Elazy_itable_init=0") == [
        *("-q", "-b 4096", "-O ^has_journal", "-O quota", "-E lazy_itable_init=0")
    ]
    assert mkfs.parts("xfs", "-m crc=0,reflink=0") == ["-m crc=0", "-m reflink=0"]
