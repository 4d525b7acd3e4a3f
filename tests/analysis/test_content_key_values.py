"""Files of LMDB, RocksDB and LevelDB are recognised by their bytes: real ones, which these wrote."""

import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from paged import Paged, told

from analysis.content import lmdb, rocksdb
from analysis.content.blocks import BLOCK
from analysis.content.findings import Finding
from analysis.content.units import Evidence
from analysis.schemas.ledger import FILES
from model import engines

SAMPLE = Path(__file__).with_name("key-values.tar.xz")
READ = {"lmdb": lmdb.read, "rocksdb": rocksdb.read}
OFFSET, FILE = 3, 1  # columns of Paged.rows


def written(name: str) -> Paged:
    """The pages of an engine's database; each file has an inode of its own."""
    pages = Paged()
    with tarfile.open(SAMPLE) as tar:
        files = [member for member in tar if member.isfile() and f"/{name}/" in member.name]
        for inode, member in enumerate(files, 10):
            role, file = engines.by_name(name).role(Path(member.name).name, []), tar.extractfile(member)
            assert role and file
            if role != "other":
                pages.add(role, inode, file.read())
    return pages


def judged(read: Callable[[Evidence], list[Finding]], pages: Paged) -> list[tuple[str, str | None]]:
    return told(read(pages.evidence()), len(pages.rows)).rows()


def counted(name: str) -> dict[tuple[str, str | None], int]:
    """How many pages there are by role and rule; none is contradicted."""
    pages = written(name)
    found = judged(READ[name], pages)
    assert "contradicted" not in {state for state, _ in found}
    return Counter((FILES[row[FILE]], rule) for row, (_, rule) in zip(pages.rows, found, strict=True))


def test_pages_of_lmdb() -> None:
    """A value of 6000 bytes has a page with a header, and one without."""
    found = counted("lmdb")
    assert found == {
        ("data", "meta page"): 2,
        ("data", "page with its number"): found["data", None] + 1,
        ("data", None): found["data", None],
        ("lock", "header of the lock table"): 1,
        ("lock", None): 1,
    }
    assert found["data", None] >= 50


def test_files_of_rocksdb() -> None:
    found = counted("rocksdb")
    assert ("log", None) not in found and ("manifest", None) not in found
    assert found["log", "records of a log"] > 50 and found["manifest", "records of a manifest"] == 1
    assert found["table", "footer of a table"] == 1
    # CURRENT, and OPTIONS of each opening
    assert found["current", "first page of current/options"] == 3


def test_a_log_of_leveldb() -> None:
    """RocksDB has LevelDB's format."""
    pages = written("leveldb")
    confirmed = rocksdb.in_log_records(pages.evidence(), "log")
    assert confirmed.size == sum(FILES[row[FILE]] == "log" for row in pages.rows) > 50


def test_a_page_of_another_place_is_contradicted() -> None:
    """The root and a leaf, whose header is valid elsewhere; and a meta page's."""
    for one, other in ((2, 3), (0, 2)):
        pages = written("lmdb")
        data = [place for place, row in enumerate(pages.rows) if FILES[row[FILE]] == "data"]
        headed = [place for place in data if judged(lmdb.read, pages)[place][1]]
        pages.exchange(OFFSET, headed[one], headed[other])
        found = judged(lmdb.read, pages)
        assert {found[headed[each]] for each in (one, other)} == {
            ("contradicted", "page with another page's number")
        }


@pytest.mark.parametrize("name", READ)
def test_a_page_under_another_label_is_contradicted(name: str) -> None:
    pages = written(name)
    rules = [rule for _, rule in judged(READ[name], pages)]
    first, last = (rules.index(rule) for rule in (next(filter(None, rules)), next(filter(None, rules[::-1]))))
    pages.exchange(0, first, last)
    found = judged(READ[name], pages)
    assert [found[place] for place in (first, last)] == [
        ("contradicted", f"{rules[place]} under another label") for place in (first, last)
    ]


def test_a_record_that_is_not_as_written_is_silent() -> None:
    """A flipped bit; the records before and after it, in other pages, are valid."""
    pages = written("rocksdb")
    log = [place for place, row in enumerate(pages.rows) if FILES[row[FILE]] == "log"]
    page = bytearray(pages.pages[log[4]])
    page[2000] ^= 1
    pages.pages[log[4]] = bytes(page)
    found = [state for state, _ in judged(rocksdb.read, pages)]
    silent = [place for place in log if found[place] == "silent"]
    assert log[4] in silent and len(silent) <= 3


def test_earlier_writings_of_a_log_and_another_log_with_its_inode() -> None:
    """A page that was not full yet; a log that was deleted, with its number another log."""
    whole = written("rocksdb")
    log = [
        bytes(page) for page, row in zip(whole.pages, whole.rows, strict=True) if FILES[row[FILE]] == "log"
    ]
    pages = Paged()
    pages.add("log", 7, log[0][:3000])
    pages.add("log", 7, b"".join(log))
    other = np.frombuffer(b"".join(log)[:32768], np.uint8).copy()
    other[0] ^= 1  # no valid CRC: but not of the log before it
    pages.add("log", 7, other.tobytes())
    found = [state for state, _ in judged(rocksdb.read, pages)]
    assert found[: len(log) + 1] == ["confirmed"] * (len(log) + 1)
    assert found[len(log) + 1] == "silent"
    assert BLOCK * len(found) == BLOCK * (len(log) + 9)
