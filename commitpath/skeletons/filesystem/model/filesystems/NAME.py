"""{{NAME}}: options of mkfs and mount, lines of errors in the kernel's log, fsck.

model/filesystems/__init__.py explains each member. Give the source of each: the file of the kernel, of
its tools, or the page of the documentation.
"""

from __future__ import annotations

from model.filesystems import Filesystem, Mkfs

FILESYSTEM = Filesystem(
    # required: what blkid calls it
    signatures=("{{NAME}}",),
    # required: the options that mkfs may be given, and where the superblock shows them; none is a beginning
    mkfs=Mkfs(allowed={}, read_back={}, flags=frozenset()),
    # required: patterns of the options that mount may be given
    mount=(),
    # required: the lines by which it reports an error in the kernel's log
    errors=r"{{NAME}}.*: .*(error|corrupt)",
    # required: a check of one that is not mounted, which writes nothing and exits with 0 if nothing is wrong
    fsck="fsck.{{NAME}} -n",
    # optional: excluded, needs, limits, hidden, commits, inodes, threads, collects, checkpoint_reasons, …
)
