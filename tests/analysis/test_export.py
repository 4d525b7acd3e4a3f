"""Exports for Perfetto, fio, blkparse and as tables agree with the run's tables; all are written or none."""

import json
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import blkparsed
import jsonschema
import polars as pl
import pytest
import tiny

from analysis import export
from analysis.export import main
from analysis.run_files import derived
from base import raw_files
from base.errors import FileError

HERE = Path(__file__).parent
BLKTRACE = HERE / "blktrace-ext4/nullb0.blktrace.0"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tiny.make(tmp_path / "cell" / "run")


def hold(run: Path) -> None:
    """Say in manifest.json what the raw files are, as an analysis does."""
    (run / "manifest.json").write_text(json.dumps({"raw_sha256": raw_files.hashes(run)}))
    derived.write(run)


def trace(run: Path) -> dict[str, Any]:
    export.export(run, ["perfetto"])
    return json.loads((run / "export/perfetto/trace.json").read_text())


def check_trace(found: dict[str, Any]) -> None:
    """Raise unless `found` is what the Trace Event Format allows: fields by phase, slices of a
    thread nested, each thread named, each flow from within a slice to within a slice."""
    jsonschema.validate(found, json.loads((HERE / "trace-events.schema.json").read_text()))
    named, slices, flows = set(), defaultdict(list), defaultdict(dict)
    for event in found["traceEvents"]:
        thread = (event["pid"], event.get("tid"))
        match event["ph"]:
            case "M" if event["name"] == "thread_name":
                named.add(thread)
            case "X":
                begin = round(event["ts"] * 1000)
                slices[thread].append((begin, begin + round(event["dur"] * 1000)))
            case "s" | "f":
                assert event["ph"] not in flows[event["id"]], "a flow begins or ends twice"
                flows[event["id"]][event["ph"]] = (thread, round(event["ts"] * 1000))
    assert set(slices) <= named, "a thread without a name"
    for found_slices in slices.values():
        open_: list[int] = []
        for begin, end in sorted(found_slices, key=lambda s: (s[0], -s[1])):
            while open_ and open_[-1] <= begin:
                open_.pop()
            assert not open_ or end <= open_[-1], "slices of a thread overlap"
            open_.append(end)
    for flow in flows.values():
        assert set(flow) == {"s", "f"}, "a flow without begin or end"
        assert flow["s"][1] <= flow["f"][1], "a flow that goes back in time"
        for thread, at in flow.values():
            assert any(begin <= at <= end for begin, end in slices[thread]), "a flow outside slices"


def test_trace_is_of_the_format(run: Path) -> None:
    check_trace(trace(run))


def test_trace_says_what_the_tables_say(run: Path) -> None:
    events = trace(run)["traceEvents"]
    slices = {e["args"]["command"]: e for e in events if e["ph"] == "X" and e["pid"] == 3}
    assert len(slices) == len(tiny.COMMANDS)
    assert slices[1]["tid"] != slices[2]["tid"]
    assert (slices[2]["ts"], slices[2]["dur"]) == (1061.5, 33.5)
    assert slices[4]["name"] == "WFSM 4K"
    assert slices[4]["args"]["labels"] == {"filesystem journal": 4096}
    assert slices[3]["name"] == "FF"
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert [names[3, slices[number]["tid"]] for number in (0, 1, 3)] == ["WAL", "filesystem journal", "flush"]
    causes = [e for e in events if e["ph"] == "s"]
    assert len(causes) == 8  # six commands of one transaction, and one of two
    assert any(e["ph"] == "X" and e["name"] == "sync <b>.db-wal" for e in events)
    depth = [e["args"]["commands"] for e in events if e["ph"] == "C"]
    assert (max(depth), depth[-1]) == (2, 0)


def test_iolog_keeps_writes_flushes_and_fua(run: Path) -> None:
    export.export(run, ["iolog"])
    assert (run / "export/iolog/replay.iolog").read_text().splitlines() == [
        "fio version 3 iolog",
        "0 target add",
        "0 target open",
        "0 target write 409600 8192",
        "60 target write 819200 12288",
        "61 target write 417792 4096",
        "100 target sync 0 0",
        "210 target write 831488 4096",
        "210 target sync 0 0",
        "1000 target read 32768 4096",
        "1059 target write 1228800 4096",
        "1999 target trim 4194304 65536",
        "1999 target close",
    ]


def test_iolog_refuses_what_fio_cannot_do(run: Path) -> None:
    path = run / "tables/ledger.parquet"
    ledger = pl.read_parquet(path).with_columns(pl.lit("N").cast(pl.Categorical).alias("rwbs"))
    ledger.filter(pl.col("bytes") > 0).write_parquet(path)
    derived.write(run)
    with pytest.raises(FileError, match="7 commands N"):
        export.export(run, ["iolog"])
    ledger.clear().write_parquet(path)
    derived.write(run)
    with pytest.raises(FileError, match="no block commands"):
        export.export(run, ["iolog"])


def test_tables_as_parquet_and_csv(run: Path) -> None:
    export.export(run, ["parquet", "csv"])
    tables = sorted(path.name for path in (run / "tables").iterdir())
    assert sorted(path.name for path in (run / "export/parquet").iterdir()) == tables
    for name in tables:
        table = pl.read_parquet(run / "export/parquet" / name)
        assert table.equals(pl.read_parquet(run / "tables" / name))
        read = pl.read_csv(run / f"export/csv/{Path(name).stem}.csv", infer_schema=False)
        assert (read.height, read.columns) == (table.height, table.columns)


def test_blkparse_reads_the_export(run: Path, tmp_path: Path) -> None:
    (run / "raw/blktrace").mkdir(parents=True)
    shutil.copyfile(BLKTRACE, run / "raw/blktrace/target.blktrace.0")
    hold(run)
    export.export(run, ["blktrace"])
    command = ("blkparse", "-q", "-i", "target", "-f", "%a\\n")
    folder = run / "export/blktrace"
    parsed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    golden = (HERE / "blktrace-ext4/blkparse.txt").read_text()
    assert len(blkparsed.events(parsed)) == len(blkparsed.events(golden)) > 500


def test_all_or_nothing(run: Path) -> None:
    hold(run)
    with pytest.raises(FileError, match="no blktrace file"):
        main(str(run), "all")
    assert not (run / "export").exists()
    assert not list(run.glob(".export-*"))


def test_rejected_run_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tiny.make(tmp_path / "cell" / "run", status="rejected", reasons=["an event was lost"])
    main(str(run), "perfetto")
    assert "rejected run: an event was lost" in capsys.readouterr().err
    text = (run / "export/perfetto/trace.json").read_text()
    assert json.loads(text)["otherData"]["rejected"] == ["an event was lost"]
