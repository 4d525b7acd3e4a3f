"""Confirm or contradict labels of RocksDB's blocks by bytes: CRCs of log records, footers of tables.

Sources: db/log_format.h and table/format.cc of release 9.10. A log consists of blocks of 32 KiB. Each record
has a CRC-32C of its type and data, and none crosses a block's end. A log is only appended to, so its last
content has all its records.
"""

from collections.abc import Iterator

import numpy as np

from analysis.content.blocks import BLOCK
from analysis.content.findings import Finding, judge_label
from analysis.content.leveldb import HEADERS, checked, records
from analysis.content.units import Evidence
from base.arrays import Ints
from model.engines.rocksdb import FILES

SEALED = ()
_MAGIC = np.frombuffer((0x88E241B785F4CFF7).to_bytes(8, "little"), np.uint8)  # of a block-based table
# first bytes of a role's files
_FIRST = {"current": (b"MANIFEST-", b"# This is a RocksDB option file.")}
# the header of a record of a log that is reused ends with the log's number
_HEADERS = {**HEADERS, **dict.fromkeys(range(5, 9), 11)}


def read(given: Evidence) -> list[Finding]:
    """Judge the units of logs, manifests, tables and options."""
    findings = [
        *judge_label(given, "records of a log", FILES["log"][0], in_log_records(given, "log")),
        *judge_label(given, "records of a manifest", FILES["manifest"][0], in_log_records(given, "manifest")),
        *judge_label(given, "footer of a table", FILES["table"][0], _footers(given)),
    ]
    for role, texts in _FIRST.items():
        units = given.units.of_file(role)
        units = units[given.units.offset[units] == 0]
        heads = given.blocks.take(given.units.row[units])
        begins = np.array([row.tobytes().startswith(texts) for row in heads], bool)
        label = FILES[role][0]
        findings += judge_label(given, f"first page of {label}", label, units[begins])
    return findings


def _footers(given: Evidence) -> Ints:
    """Return the units of tables that end with the magic number, or with zeros after it."""
    units = given.units.of_file("table")
    pages = given.blocks.take(given.units.row[units])
    end = pages.shape[1] - np.argmax(pages[:, ::-1] != 0, axis=1)
    place = np.maximum(end, _MAGIC.size)[:, None] - np.arange(_MAGIC.size, 0, -1)
    ended: Ints = units[(np.take_along_axis(pages, place, axis=1) == _MAGIC).all(axis=1)]
    return ended


def in_log_records(given: Evidence, role: str) -> Ints:
    """Return the units of a role's files in which all bytes but zeros are in records with valid CRCs."""
    units = given.units.of_file(role)
    return np.concatenate([np.empty(0, np.int64), *(_of_log(given, each) for each in _logs(given, units))])


def _logs(given: Evidence, units: Ints) -> Iterator[Ints]:
    """Yield the units of each log, in the order of their writing.

    A log that is deleted leaves its inode to another file: the first page then begins with another record.
    """
    for inode in np.unique(given.units.inode[units]).tolist():
        own = units[given.units.inode[units] == inode]
        own = own[np.argsort(given.units.row[own], kind="stable")]
        first = np.flatnonzero(given.units.offset[own] == 0)
        heads = given.blocks.take(given.units.row[own[first]])[:, : HEADERS[1]]
        begins = first[1:][(heads[1:] != heads[:-1]).any(axis=1)]
        yield from np.split(own, begins)


def _of_log(given: Evidence, units: Ints) -> Ints:
    """Return the confirmed units of one log."""
    page = given.units.offset[units] // BLOCK
    pages, last = np.unique(page[::-1], return_index=True)
    content = np.zeros((int(page.max(initial=0)) + 1, BLOCK), np.uint8)
    content[pages] = given.blocks.take(given.units.row[units[::-1][last]])
    known = (_in_records(content.ravel()).reshape(content.shape) | (content == 0)).all(axis=1)
    bytes_ = given.blocks.take(given.units.row[units])
    filled = BLOCK - np.argmax(bytes_[:, ::-1] != 0, axis=1)
    # an earlier writing of a page has the beginning of its last content
    begins = (bytes_ == content[page]) | (np.arange(BLOCK) >= filled[:, None])
    confirmed: Ints = units[known[page] & begins.all(axis=1) & bytes_.any(axis=1)]
    return confirmed


def _in_records(content: np.ndarray) -> np.ndarray:
    """Return which bytes of a log are in records with valid CRCs."""
    result = np.zeros(content.size, bool)
    for part, is_right in checked(records(content, _HEADERS)):
        result[part.begin : part.end] = is_right
    return result
