"""Options of mkfs and mount that contradict each other, or FS, are refused in the plan: no board is begun."""

import pytest

from base.errors import BadInputError
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell


@pytest.mark.parametrize(
    ("given", "says"),
    [
        # what FS says, otherwise or once more
        ("MOUNT_OPTIONS=data=writeback", "S: data=writeback: FS=ext4-ordered mounts with data=ordered"),
        ("MOUNT_OPTIONS=data=ordered", "MOUNT_OPTIONS: data=ordered: FS=ext4-ordered mounts with it already"),
        # two of one kind
        ("MOUNT_OPTIONS=commit=5,commit=10", "MOUNT_OPTIONS: commit=10: MOUNT_OPTIONS mounts with commit=5"),
        ("MOUNT_OPTIONS=delalloc,nodelalloc", "nodelalloc: MOUNT_OPTIONS mounts with delalloc"),
        ("MOUNT_OPTIONS=noatime,relatime", "relatime: MOUNT_OPTIONS mounts with noatime; remove one"),
        # what the kernel refuses
        ("MKFS_OPTIONS=-O_^has_journal", "has_journal cannot be with data=ordered of FS=ext4-ordered: it ha"),
        ("MKFS_OPTIONS=-O_^has_journal,fast_commit FS=ext4-journal", "; use FS=ext4-nojournal"),
        (
            "MOUNT_OPTIONS=data=ordered FS=ext4-nojournal",
            "MOUNT_OPTIONS: data=ordered cannot be with -O ^has_journal of FS=ext4-nojournal: it has no "
            "journal to mount with; use FS=ext4-ordered",
        ),
        (
            "MKFS_OPTIONS=-J_size=8 FS=ext4-nojournal",
            "MKFS_OPTIONS: -J size=8 cannot be with -O ^has_journal of FS=ext4-nojournal: it has no journal; "
            "use FS=ext4-journal or ext4-ordered or ext4-writeback",
        ),
        ("MOUNT_OPTIONS=delalloc FS=ext4-journal", "S: delalloc cannot be with data=journal of FS"),
        ("MOUNT_OPTIONS=mode=lfs,atgc FS=f2fs", "mode=lfs cannot be with atgc of MOUNT_OPTIONS"),
        ("MOUNT_OPTIONS=compress=lzo FS=btrfs-nocow PROBES=none", "lzo cannot be with nodatacow of FS"),
        ("MOUNT_OPTIONS=compress=lzo FS=btrfs", "compress=lzo cannot be watched: a compressed page does"),
        # a lab board would stay mounted
        ("FS=btrfs BOARD=virtual CLOCK=real PROBES=none", "FS=btrfs: a mount of btrfs does not have its dev"),
        # what mkfs refuses, or forgets
        ("MKFS_OPTIONS=-O_^extent", "MKFS_OPTIONS: -O ^extent needs -O ^64bit"),
        ("MKFS_OPTIONS=-C_65536", "-C 65536 needs -O bigalloc"),
        ("MKFS_OPTIONS=-b_8192", "MKFS_OPTIONS: -b 8192: a block is 1024, 2048 or 4096 bytes"),
        ("MKFS_OPTIONS=-O_^64bit_-O_quota", "MKFS_OPTIONS: -O is given by MKFS_OPTIONS already"),
        ("MKFS_OPTIONS=-i_size=256 FS=xfs", "MKFS_OPTIONS: -i size=256 needs -m crc=0"),
        ("MKFS_OPTIONS=-m_crc=0,crc=1 FS=xfs", "S: -m crc=1: MKFS_OPTIONS has -m crc=0; remove one"),
        # beyond what they document
        ("MOUNT_OPTIONS=commit=99999999999", "commit=99999999999: it is 0 to 21474835 s (fs/ext4/super.c"),
        ("MOUNT_OPTIONS=stripe=4294967296", "stripe=4294967296: it is 0 to 4294967295"),
        ("MKFS_OPTIONS=-i_size=4096 FS=xfs", "-i size=4096: it is 256, 512, 1024 or 2048 (mkfs.xfs(8))"),
        ("MKFS_OPTIONS=-i_size=1024_-b_size=1024 FS=xfs", "with -i size=1024 of MKFS_OPTIONS: a block"),
        ("MKFS_OPTIONS=-d_agcount=100000 FS=xfs", "=100000: an allocation group has 16 MiB at least"),
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
    "given", [f"MOUNT_OPTIONS={text}" for text in ("noatime,", ",noatime", "noatime,,commit=30")]
    + [f"MKFS_OPTIONS={text}" for text in ("-b 1024 ", " -b 1024", "-b  1024")],
)  # fmt: skip
def test_one_cell_has_one_spelling(given: str) -> None:
    name, _, text = given.partition("=")
    with pytest.raises(BadInputError, match=f"^{given}: {name} is those of .*, with one "):
        make_cell({name: text})


@pytest.mark.parametrize(
    "variables",
    [
        {"MOUNT_OPTIONS": "noatime,commit=30,nobarrier"},
        {"MKFS_OPTIONS": "-b 1024"},  # in place of the file's
        {"MKFS_OPTIONS": "-O ^extents,^64bit -I 256"},
        {"MKFS_OPTIONS": "-O bigalloc -C 65536"},
        {"FS": "ext4-journal", "MOUNT_OPTIONS": "nodelalloc,nodioread_nolock"},
        {"FS": "f2fs", "MKFS_OPTIONS": "-O extra_attr,compression", "MOUNT_OPTIONS": "mode=lfs"},
        {"FS": "xfs", "MKFS_OPTIONS": "-m crc=0 -m reflink=0 -d agcount=128 -l size=67108864"},
        # what people try first
        {"MKFS_OPTIONS": "-O fast_commit", "MOUNT_OPTIONS": "lazytime,commit=30,nobarrier,nodioread_nolock"},
        {"FS": "ext4-nojournal", "MOUNT_OPTIONS": "lazytime,dioread_nolock"},
        {"FS": "f2fs", "MOUNT_OPTIONS": "fsync_mode=nobarrier,checkpoint_merge,lazytime"},
        {"FS": "f2fs", "MOUNT_OPTIONS": "fsync_mode=strict,nocheckpoint_merge"},
        {"FS": "xfs", "MKFS_OPTIONS": "-m crc=0,reflink=0 -i size=256", "MOUNT_OPTIONS": "logbufs=2"},
        {"FS": "btrfs", "MOUNT_OPTIONS": "compress-force=zstd:3", "PROBES": "none"},
    ],
)
def test_what_fits_together_is_taken(variables: dict[str, str]) -> None:
    make_cell(variables)


@pytest.mark.parametrize("name", axes()["fs"].files())
def test_each_filesystem_of_ours_fits_together(name: str) -> None:
    make_cell({"FS": name})
