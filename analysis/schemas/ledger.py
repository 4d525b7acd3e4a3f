"""Define the ledger's tables: columns, labels of bytes and reasons (meaning: docs/reference/ledger.md).

Times are ns of CLOCK_MONOTONIC, `bytes`, `offset` and the label columns bytes, `sector` 512 bytes.
"""

import polars as pl
from polars.datatypes import DataType, DataTypeClass

from model import engines

LABELS = (
    *engines.labels(),
    "filesystem journal",
    "inode/node",
    "bitmap/SIT/NAT/superblock",
    "directory",
    "checkpoint pack",
    "other",
    "unattributed",
)
# How a command relates to a transaction (docs/reference/ledger.md, Attribution).
HOW = ("in", "waited", "shared", "behind")
# Why something was written for no transaction (analysis/ledger/background_io.py recognises each).
NO_TRANSACTION = (
    "close",
    "drain",
    "between transactions",
    "garbage collection",
    "write back",
    "journal",
    "engine job",
    "another partition",
    "unknown",
)
# Roles of the engines' files (model/engines/); `directory` contains them.
FILES = (*engines.files(), "other", "directory")
KINDS = (*LABELS, "flush", "read", "discard")
CALLERS = ("kernel", "fsync", "fdatasync", "io_uring")

LABEL, KIND, FILE = pl.Enum(LABELS), pl.Enum(KINDS), pl.Enum(FILES)
NOBODY = pl.Enum(NO_TRANSACTION)

Kind = DataType | DataTypeClass
Schema = dict[str, Kind]
# nullable columns of numbers
NULLABLE = frozenset(
    (
        *("sector", "queue_ns", "tid", "transaction", "made_by", "vfs_call", "sync"),
        *("commit", "checkpoint", "inode", "offset", "home"),
    )
)

LEDGER: Schema = {
    "command": pl.Int64,  # 0.. in the order of issue
    "rwbs": pl.Categorical,
    "kind": KIND,
    "sector": pl.Int64,  # null for a flush
    "bytes": pl.Int64,
    "queue_ns": pl.Int64,  # when the first of its bios was queued, Q; null: without bios
    "issue_ns": pl.Int64,
    "complete_ns": pl.Int64,
    "tid": pl.Int64,  # submitter of its (first) bio
    "comm": pl.Categorical,
    "transaction": pl.Int64,  # caused the write; null: none, or several: see `shares`
    "no_transaction": NOBODY,  # reason without a transaction; null: it has one, or see `shares`
    "op": pl.Categorical,
    "phase": pl.Categorical,  # by the time of issue
    "how": pl.Enum(HOW),
    "vfs_call": pl.Int64,  # row of `vfs`: the call in progress, or waiting for it
    "sync": pl.Int64,  # row of `syncs`: in progress, or waiting for it
    "commit": pl.Int64,  # number of its journal commit
    "checkpoint": pl.Int64,  # row of `checkpoints`
}
PIECES: Schema = {
    "command": pl.Int64,
    "bytes": pl.Int64,
    "label": LABEL,
    "file": FILE,
    "inode": pl.Int64,
    "offset": pl.Int64,  # in the file; null for metadata
    "of": LABEL,  # label of the block copied into the filesystem journal; null: journal metadata
    "vfs_call": pl.Int64,  # the last xWrite of that page before the bio
    "moved": pl.Boolean,  # moved by the filesystem's garbage collector
    "sector": pl.Int64,
    "home": pl.Int64,  # sector of the metadata block in a page of the block device
}
# result of the content check of a piece (analysis/content/); null: undecided, or bytes not kept
WITNESSED: Schema = {"confirmed": pl.Boolean, "rule": pl.Categorical}
SHARES: Schema = {
    "command": pl.Int64,
    "transaction": pl.Int64,  # null: a share without a transaction
    "no_transaction": NOBODY,  # reason for such a share
    "share": pl.Float64,
}
DEFERRED: Schema = {
    "command": pl.Int64,
    "transaction": pl.Int64,  # wrote this content to a page cache or a log
    "made_by": pl.Int64,  # the later one that caused the device write; null: none
    "no_transaction": NOBODY,  # reason without one
    "bytes": pl.Float64,
}
# One row per part of a read command that has one label.
READS: Schema = {
    "command": pl.Int64,
    "bytes": pl.Int64,
    "label": LABEL,
    "file": FILE,
    "inode": pl.Int64,
    "offset": pl.Int64,  # in the file; null for metadata
    "sector": pl.Int64,
    "transaction": pl.Int64,  # its thread queued the read; null: none, or several: see `shares`
    "no_transaction": NOBODY,  # why none
    # whether that thread was off the CPU when the command completed; if not, it was read ahead.
    # Null: not recorded
    "waited": pl.Boolean,
}
SYNCS: Schema = {
    "sync": pl.Int64,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "tid": pl.Int64,
    "inode": pl.Int64,
    "file": FILE,
    "name": pl.Categorical,
    "datasync": pl.Boolean,
    "caller": pl.Enum(CALLERS),
    "result": pl.Int64,
    "transaction": pl.Int64,
    "vfs_call": pl.Int64,
}
COMMITS: Schema = {
    "commit": pl.Int64,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "sync_commit": pl.Int64,
    "blocks": pl.Int64,  # logged: descriptors, copies and the commit block
    "waiting": pl.Int64,  # number of transactions that waited
}
CHECKPOINTS: Schema = {
    "checkpoint": pl.Int64,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "tid": pl.Int64,
    "reason": pl.Int64,  # CP_UMOUNT 1, CP_FASTBOOT 2, CP_SYNC 4, CP_RECOVERY 8, ...
}
VFS: Schema = {
    "call": pl.Int64,
    "op": pl.Categorical,
    "file": FILE,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "inode": pl.Int64,
    "offset": pl.Int64,
    "bytes": pl.Int64,
    "transaction": pl.Int64,
    "page": pl.Int64,  # database page logged with this write; null: none, or not recorded
    "database": pl.Int64,  # number of the file's database, from 1; null: a single database, or none
}
# Parts of a transaction's latency, each a column with _ns, and their names: its thread ran, or waited for.
TIMES = {
    "cpu": "CPU",
    "data_wait": "data",
    "journal_wait": "journal or nodes",
    "flush_wait": "flush",
    "other_wait": "other",
}
WAITS = ("data_wait_ns", "journal_wait_ns", "flush_wait_ns", "other_wait_ns")
COSTS: Schema = {
    "transaction": pl.Int64,
    "phase": pl.Categorical,
    "op": pl.Categorical,
    "latency_ns": pl.Int64,
    "syncs": pl.Int64,  # the filesystem's
    "vfs_syncs": pl.Int64,  # those caused by the engine's calls
    "bytes": pl.Float64,  # device writes it caused: alone, and its shares
    "for_others": pl.Float64,  # part of `bytes` with content of earlier transactions
    "deferred": pl.Float64,  # not in `bytes`: its content, written because of others
    **dict.fromkeys(LABELS, pl.Float64),
    "flushes": pl.Float64,
    "fua": pl.Float64,
    "writes": pl.Float64,
    "cpu_ns": pl.Int64,  # null, as are the waits, for a watched command: not recorded
    **dict.fromkeys(WAITS, pl.Int64),
}
TABLES: dict[str, Schema] = {
    "ledger": LEDGER,
    "pieces": PIECES | WITNESSED,
    "shares": SHARES,
    "deferred": DEFERRED,
    "syncs": SYNCS,
    "commits": COMMITS,
    "checkpoints": CHECKPOINTS,
    "vfs": VFS,
    "costs": COSTS,
}
