"""XFS: mkfs and mount options allowed, their conflicts and limits, how they are read back; errors, fsck.

`superblock.txt` is from xfs_db's `info`, a field with its section in each line; `fsmap.csv` has the owner of
each extent (xfs_io -c 'fsmap -m'), `directories.txt` the directories' inodes. Log and metadata are written
from buffers without a file's pages, so their place on the device identifies them. A copy in the log does not
name its block.
"""

import re

from model.filesystems import Filesystem, Mkfs, ReadBack, Superblock, number

_NUMBER = r"[0-9]+"
_FEATURES = ("bigtime", "crc", "finobt", "inobtcount", "reflink", "rmapbt")


def _log_size(_: str, superblock: Superblock) -> str | None:
    """Return the size of the log in bytes."""
    fields = [superblock.get(f"log.{name}", "") for name in ("blocks", "bsize")]
    if not all(re.fullmatch("[0-9]{1,18}", text) for text in fields):
        return None
    blocks, size = map(int, fields)
    return str(blocks * size)


def _powers(least: int, most: int) -> frozenset[int]:
    """Return the powers of two from one to another."""
    return frozenset(1 << power for power in range(least.bit_length() - 1, most.bit_length()))


_READ_BACK: dict[str, ReadBack] = {
    "-b size": number("data.bsize"),
    "-d agcount": number("meta-data.agcount"),
    "-i size": number("meta-data.isize"),
    "-l size": _log_size,
    "-n size": number("naming.bsize"),
    **{f"-m {name}": number(f"meta-data.{name}") for name in _FEATURES},
}

FILESYSTEM = Filesystem(
    signatures=("xfs",),
    mkfs=Mkfs(
        # No -l logdev=, -r rtdev= or -d name=, which name another device; no -p or -c, which read
        # files; no -m uuid=.
        allowed={
            "-q": "",
            **dict.fromkeys(("-b", "-i", "-l", "-n"), f"size={_NUMBER}"),
            "-d": f"agcount={_NUMBER}",
            "-m": f"({'|'.join(_FEATURES)})=[01](,({'|'.join(_FEATURES)})=[01])*",
        },
        read_back=_READ_BACK,
        flags=frozenset(("-q",)),
        suboptions=True,
    ),
    # Those of Documentation/admin-guide/xfs.rst of Linux 6.12 that xfs_fs_show_options (fs/xfs/xfs_super.c)
    # shows in the same form: not nodiscard, nogrpid and nolargeio; allocsize= in k, from 4 KiB to 1 GiB. No
    # logdev= or rtdev=, which name another device, and no norecovery or nouuid.
    mount=(
        f"allocsize=({'|'.join(str(4 << power) for power in range(19))})k",
        "discard",
        "filestreams",
        "grpid",
        "inode(32|64)",
        "largeio",
        "logbufs=[2-8]",
        "logbsize=(16|32|64|128|256)k",
        "noalign",
        "wsync",
    ),
    # xfsprogs, mkfs/xfs_mkfs.c, validate_sb_features, validate_inodesize and validate_blocksize
    excluded=(
        ("-m crc=0", "-m (bigtime|finobt|inobtcount|reflink|rmapbt)=1", "it needs checksums"),
        ("-m finobt=0", "-m inobtcount=1", "it counts what the other would have"),
        *(
            (f"-b size={block}", f"-i size={inode}", "a block holds two inodes at least")
            for block in (512, 1024, 2048)
            for inode in (256, 512, 1024, 2048)
            if inode > block // 2
        ),
    ),
    needs=(
        ("-i size=256", "-m crc=0", "with checksums an inode has 512 bytes at least"),
        ("-b size=512", "-m crc=0", "with checksums a block has 1024 bytes at least"),
    ),
    # xfsprogs, mkfs/xfs_mkfs.c, bopts, dopts, iopts, lopts and nopts
    limits={
        "-b size=": (_powers(512, 65536), "a power of two, 512 to 65536 (mkfs.xfs(8))"),
        "-d agcount=": (range(1, 2**32 - 1), "1 or more (mkfs.xfs(8))"),
        "-i size=": (_powers(256, 2048), "256, 512, 1024 or 2048 (mkfs.xfs(8))"),
        "-l size=": (
            range(2 << 20, (2 << 30) - (10 << 20) + 1),
            "2097152 to 2136997888 bytes (mkfs/xfs_mkfs.c, lopts)",
        ),
        "-n size=": (_powers(4096, 65536), "a power of two, 4096 to 65536 (mkfs/xfs_mkfs.c, nopts)"),
    },
    each_mib={"-d agcount=": (16, "an allocation group has 16 MiB at least (mkfs.xfs(8))")},
    fsck="xfs_repair -n",
    errors=r"XFS( \(.*\))?: .*([Ee]rror|[Cc]orrupt|[Ss]hut(ting)? ?down|failed)",
    files=("fsmap.csv", "directories.txt"),
    # fs/xfs/xfs_trans_ail.c, xfs_trans_ail_init
    threads={"xfsaild/": "write back"},
    # whatever the options
    exact="",
    colors={"XFS": "#D55E00"},
)
