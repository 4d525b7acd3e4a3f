"""From a folder to a report: exit codes, empty runs, hostile names, nothing half-written."""

import json
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from xml.etree import ElementTree

import markup
import polars as pl
import pytest
import synthetic

from analysis import __main__ as command
from analysis import pipeline
from analysis.diff.comparison_files import main as diff
from analysis.export import main as export
from analysis.inspect import write
from analysis.report import manual
from analysis.run_files import derived
from analysis.schemas import events
from analysis.tree.printed_tree import show
from base.errors import FileError
from base.paths import ROOT

# the fixture of tests/conftest.py
Undrawn = Callable[[], AbstractContextManager[None]]


def outputs(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "raw" not in path.parts and path.name != "cell.json"
    }


def test_good_run(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(run_dir)]) == 0
    printed = capsys.readouterr().out
    assert str(run_dir / "report.html") in printed
    assert all(len(line) <= 80 for line in printed.splitlines()[1:-1])
    summary = json.loads((run_dir / "summary.json").read_text())
    assert summary["status"] == "ok" and summary["reasons"] == []
    assert summary["syncs"] == {"insert": 4.0, "update": 4.0, "delete": 4.0}
    assert summary["per_transaction"]["insert"] == {
        "block_writes": 12.0,
        "bytes_written": 65536.0,
        "flushes": 4.0,
        "fua": 4.0,
    }
    assert sorted(p.name for p in (run_dir / "figures").iterdir()) == [
        "blocks.svg",
        "latency.svg",
        "syncs.svg",
        "traffic.svg",
        "zoom.svg",
    ]
    assert not list(run_dir.glob(".analysis-*"))
    rows = pl.read_parquet(run_dir / "tables/events.parquet")
    assert dict(rows.schema) == {name: dtype() for name, dtype in events.SCHEMA.items()}
    # the page needs no other file, and links to those of its run and to pages of docs/
    page = (run_dir / "report.html").read_text()
    assert "src=" not in page and "@import" not in page and "url(http" not in page
    links = set(re.findall(r"href=\"([^\"#][^\"]*)\"", page))
    docs = {link for link in links if link.startswith("../docs/")}
    assert docs
    assert links - docs == {"tables/", "raw/", "summary.json", "manifest.json"}
    assert all((run_dir / link).exists() for link in links - docs)
    sections = re.findall(r"<h2 id=\"([^\"]+)\">", page)
    assert sections and sections == re.findall(r"<li><a href=\"#([^\"]+)\">", page)
    assert page.index("<figure>") < page.index("<table")
    ids = re.findall(r"\bid=\"([^\"]+)\"", page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"(?:xlink:href=\"#|url\(#)([^\")]+)", page)) <= set(ids)


def targets(page: Path) -> tuple[set[str], set[str]]:
    """The ids of a page, and what it links to or shows, but for other sites."""
    text = page.read_text()
    links = re.findall(r"(?:href|src)=\"([^\"]+)\"", text)
    return set(re.findall(r"\bid=\"([^\"]+)\"", text)), {url for url in links if ":" not in url}


def test_each_link_of_a_report_and_of_the_pages_of_docs_leads_somewhere(run_dir: Path) -> None:
    """To a file, and in it to an anchor; none to a page that a browser shows as text."""
    command.main([str(run_dir)])
    (readme,) = run_dir.parent.glob("docs/*/README.html")
    pages = [run_dir / "report.html", *readme.parent.rglob("*.html")]
    found = {page: targets(page) for page in pages}
    assert {page: lacks for page in pages if (lacks := markup.lacks(page.read_text()))} == {}
    templates = "".join(path.read_text() for path in ROOT.glob("analysis/*/*.j2"))
    linked = set(re.findall(r"{{ DOCS }}([^\"]+)", templates))
    assert len(linked) > 3 and all((readme.parent / "docs" / name).is_file() for name in linked)
    broken = []
    for page, (_, links) in found.items():
        for url in links:
            name, _, anchor = url.partition("#")
            target = Path(os.path.normpath(page.parent / name)) if name else page
            if target.suffix == ".md" or not target.exists() or (anchor and anchor not in found[target][0]):
                broken.append((page.name, url))
    assert not broken
    # written again only when a source has changed
    before = readme.stat()
    manual.write(run_dir.parent)
    assert readme.stat().st_ino == before.st_ino
    os.utime(readme, ns=(0, 0))
    manual.write(run_dir.parent)
    assert readme.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize(
    ("probes", "why"),
    [
        ("none", "it has no observers (PROBES=none)"),
        ("block,bio", "it was rejected, of PROBES=block,bio: "),
        # accepted
        ("block,bio ", "PROBES=block,bio are too few observers"),
    ],
)
def test_what_needs_a_ledger_says_why_a_run_has_none(
    run_dir: Path, undrawn: Undrawn, probes: str, why: str
) -> None:
    """Not that it is to be analysed again, which changes nothing."""
    synthetic.change_cell(run_dir, probes=probes.strip())
    with undrawn():
        summary = pipeline.analyse(run_dir)
    if probes == "block,bio":
        rejected = {"status": "rejected", "reasons": ["2 events were lost"]}
        (run_dir / "summary.json").write_text(json.dumps({**summary, **rejected}))
        derived.write(run_dir)
    for call in (
        lambda: write.of_run(str(run_dir)),
        lambda: show(str(run_dir), "slowest"),
        lambda: diff(str(run_dir), str(run_dir), force=True),
        lambda: export(str(run_dir), "perfetto"),
    ):
        with pytest.raises(FileError) as error:
            call()
        said = str(error.value)
        assert why in said and "`make experiment` with its settings" in said and "\n" not in said, said
        assert "make analyse" not in said


def test_rejected_run_is_kept_with_its_reasons(run_dir: Path, undrawn: Undrawn) -> None:
    path = run_dir / "raw/probes.bin"
    data = bytearray(path.read_bytes())
    data[-36:-32] = (17).to_bytes(4, "little")  # n of the last record
    path.write_bytes(data)
    with undrawn():
        assert command.main([str(run_dir)]) == 1
    summary = json.loads((run_dir / "summary.json").read_text())
    assert summary["status"] == "rejected"
    assert summary["reasons"] == ["the probes lost 17 events: their ring was full"]
    assert summary["lost_events"] == 17
    page = (run_dir / "report.html").read_text()
    assert page.index("Rejected: do not use") < page.index("lost 17 events") < page.index("Numbers")


def test_bad_input_leaves_the_old_outputs(
    run_dir: Path, capsys: pytest.CaptureFixture[str], undrawn: Undrawn
) -> None:
    with undrawn():
        assert command.main([str(run_dir), "--quiet"]) == 0
    before = outputs(run_dir)
    size = (run_dir / "raw/probes.bin").stat().st_size
    with (run_dir / "raw/probes.bin").open("ab") as file:
        file.write(b"block 12")
    assert command.main([str(run_dir)]) == 3
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert f"raw/probes.bin: byte {size}: a record of 8 bytes; expected 64 bytes" in printed.err
    assert outputs(run_dir) == before


def test_null_workload(tmp_path: Path) -> None:
    folder = synthetic.make(tmp_path / "null" / "run", workload="null")
    assert command.main([str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["syncs"] == {"insert": 0.0, "update": 0.0, "delete": 0.0}
    assert summary["block"] == {"reads": 0, "writes": 0, "bytes_written": 0, "flushes": 0, "fua": 0}
    assert summary["write_amplification"] is None


HOSTILE = "<script>alert('&amp;')</script>\x07\x1b[31m.db"


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    folder = synthetic.make(tmp_path / "cell" / "run", name=HOSTILE.replace("/", "_"))
    synthetic.change_cell(folder, fs="<b>cell")
    assert command.main([str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert re.findall("<script.{0,6}", page) == ["<script type="] * 2
    assert "<b>cell" not in page and "&lt;b&gt;cell" in page
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", page)
    for path in (folder / "figures").iterdir():
        ElementTree.parse(path)


@pytest.mark.parametrize(
    ("rwbs", "sectors", "kind"),
    [
        ("FF", 0, "flush"),
        ("WS", 8, "write"),
        ("WSM", 8, "write metadata"),
        ("WFSM", 8, "write FUA"),
        ("D", 8, "discard"),
        ("FWS", 8, "write"),
        ("N", 8, "other"),
    ],
)
def test_kind_of_a_command(rwbs: str, sectors: int, kind: str) -> None:
    row = pl.DataFrame({"rwbs": [rwbs], "sectors": [sectors]})
    assert row.select(events.block_kind()).item() == kind


@pytest.mark.parametrize(
    ("name", "directory", "kind"),
    [
        ("s.db", False, "database"),
        ("s.db-wal", False, "wal"),
        ("db", True, "directory"),
        (None, None, "other"),
    ],
)
def test_kind_of_a_file(name: str | None, directory: bool | None, kind: str) -> None:
    assert events.file_kind(name, directory, ["s.db"]) == kind
