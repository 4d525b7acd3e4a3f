"""Judge the blocks of RocksDB's files: records of logs by their CRCs, tables by their footers.

Sources: db/log_format.h and table/format.cc of release 9.10.
"""

import numpy as np

from analysis.content import labelled, log_records
from analysis.content.units import Evidence
from analysis.content.verdicts import Finding
from base.arrays import Ints, ints
from model.engines.rocksdb import FILES

SEALED = ()
_MAGIC = np.frombuffer((0x88E241B785F4CFF7).to_bytes(8, "little"), np.uint8)  # of a block-based table
# first bytes of a role's files
_FIRST = {"current": (b"MANIFEST-", b"# This is a RocksDB option file.")}


def read(given: Evidence) -> list[Finding]:
    """Judge the units of logs, manifests, tables and options."""
    findings = [
        *labelled.judge(given, "records of a log", FILES["log"][0], log_records.confirmed(given, "log")),
        *labelled.judge(
            given, "records of a manifest", FILES["manifest"][0], log_records.confirmed(given, "manifest")
        ),
        *labelled.judge(given, "footer of a table", FILES["table"][0], _footers(given)),
    ]
    for role, texts in _FIRST.items():
        units = given.units.of_file(role)
        units = units[given.units.offset[units] == 0]
        heads = given.blocks.take(given.units.row[units])
        begins = np.array([row.tobytes().startswith(texts) for row in heads], bool)
        findings += labelled.judge(given, f"first page of {FILES[role][0]}", FILES[role][0], units[begins])
    return findings


def _footers(given: Evidence) -> Ints:
    """Return the units of tables that end with the magic number, or with zeros after it."""
    units = given.units.of_file("table")
    pages = given.blocks.take(given.units.row[units])
    end = pages.shape[1] - np.argmax(pages[:, ::-1] != 0, axis=1)
    place = np.maximum(end, _MAGIC.size)[:, None] - np.arange(_MAGIC.size, 0, -1)
    return ints(units[(np.take_along_axis(pages, place, axis=1) == _MAGIC).all(axis=1)])
