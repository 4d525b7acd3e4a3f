"""Kinds of operations: their one table, transactions of several, phases that mix them, a mix's rates."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from analysis.adapters import drivertables
from analysis.checks import workload_replay
from analysis.figures import style
from analysis.report import summary, terminal
from analysis.stats import report_tables
from base.errors import FileError
from model import operations
from model.operations import Transaction
from model.workloads import Operation, Table

HEADER = "transaction,phase,op,begin_ns,end_ns,changes"
MIX = f"""{HEADER},rows,bytes
0,mix,read,10,20,0,1,100
1,mix,update,30,50,,0,0
2,mix,read,60,70,0,0,0
3,mix,scan,80,90,0,5,500
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "transactions.csv"
    path.write_text(text)
    return path


def test_the_drivers_build_takes_every_line() -> None:
    """workloads/operations.mk reads lines of this form, and no others."""
    lines = [line for line in operations.PATH.read_text().splitlines() if not line.startswith("#")]
    form = r"[a-z-]+: \{mutates: (true|false), reads: (true|false), rows: -?[01], color: '#[0-9A-F]{6}', .+\}"
    assert all(re.fullmatch(form, line) for line in lines)
    assert len(lines) == len(operations.kinds())


# linear sRGB to XYZ over the white point; to what protanopes and deuteranopes see (Machado 2009)
XYZ = np.array([[0.434, 0.376, 0.190], [0.213, 0.715, 0.072], [0.018, 0.109, 0.873]])
SEEN = {
    "normal": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
}


def lab(color: str, seen: str) -> np.ndarray:
    """Return CIE L*a*b* of #RRGGBB."""
    linear = (np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255) ** 2.2
    x, y, z = np.cbrt(XYZ @ (SEEN[seen] @ linear).clip(0, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(("seen", "least"), [("normal", 16), ("protan", 8), ("deutan", 8)])
def test_no_operation_looks_like_a_label_or_another(seen: str, least: float) -> None:
    """Both are on a run's page. A just noticeable difference is about 2."""
    others = {**style.FILES, **style.LABELS, **style.COMMANDS}
    for name, color in operations.colors().items():
        rest = others | {op: other for op, other in operations.colors().items() if op != name}
        near = {other: np.linalg.norm(lab(color, seen) - lab(at, seen)) for other, at in rest.items()}
        assert min(near.values()) > least, (name, min(near, key=near.__getitem__))
    greys = sorted(lab(color, "normal")[0] for color in operations.colors().values())
    assert min(np.diff(greys)) > 3.5


@pytest.mark.parametrize(
    ("op", "kind"),
    [("insert", "insert"), ("insert_indexed", "insert"), ("select_scan", "read"), ("create_index", "sql")],
)
def test_a_groups_kind_is_in_its_name(op: str, kind: str) -> None:
    assert operations.kind_name(op) == kind


def test_operations_per_transaction() -> None:
    """A batch has several; a run of an older driver did not count them."""
    rows = pl.DataFrame({"op": ["update", "batch", "batch", "read"]})
    run = SimpleNamespace(config={"operations": {"update": 1, "batch": 20, "read": 1}}, transactions=rows)
    made = summary.operations_per_transaction(cast(Any, run))
    assert made == {"operations_per_transaction": {"update": 1.0, "batch": 10.0, "read": 1.0, "all": 22 / 4}}
    run.config = {}
    assert summary.operations_per_transaction(cast(Any, run)) == {}


def test_changes_may_be_unknown_and_older_runs_have_no_rows(tmp_path: Path) -> None:
    table = drivertables.transactions(written(tmp_path, MIX))
    assert table["changes"].to_list() == [0, None, 0, 0] and table["bytes"].sum() == 600
    older = drivertables.transactions(written(tmp_path, f"{HEADER}\n0,insert,insert,1,2,1\n"))
    assert older.columns == HEADER.split(",")
    with pytest.raises(FileError, match="rows is -1"):
        drivertables.transactions(written(tmp_path, f"{HEADER},rows,bytes\n0,mix,read,1,2,0,-1,0\n"))


def test_a_phase_may_have_several_kinds_and_no_unknown_one(tmp_path: Path) -> None:
    path = written(tmp_path, MIX)
    table = drivertables.transactions(path)
    drivertables.check_op(path, table, ["mix"])
    with pytest.raises(FileError, match="phase is 'mix'"):
        drivertables.check_op(path, table, ["insert"])
    other = table.with_columns(op=pl.lit("lookup"))
    with pytest.raises(FileError, match="op is 'lookup'"):
        drivertables.check_op(path, other, ["mix"])


def test_rates_of_a_mix_are_over_the_whole_phase(tmp_path: Path) -> None:
    phases = pl.DataFrame({"phase": ["mix"], "begin_ns": [0], "end_ns": [100]})
    ran = SimpleNamespace(transactions=drivertables.transactions(written(tmp_path, MIX)), phases=phases)
    rows = {row["op"]: row for row in report_tables.times(cast("Any", ran)).iter_rows(named=True)}
    assert {op: row["tps"] for op, row in rows.items()} == {"read": 2e7, "update": 1e7, "scan": 1e7}
    assert rows["update"]["max_ns"] == 20
    assert report_tables.mixed(cast("Any", ran)) == ["read", "update", "scan"]
    phased = ran.transactions.with_columns(phase=pl.col("op").cast(pl.String))
    assert report_tables.mixed(cast("Any", SimpleNamespace(transactions=phased))) == []


@pytest.mark.parametrize(
    ("op", "one"),
    [
        ("scan", Transaction(("read",), batch=False)),
        ("scan", Transaction(("scan",), batch=False)),
        ("read-modify-write", Transaction(("read", "update"), batch=False)),
        ("read-modify-write", Transaction(("read-modify-write",), batch=False)),
    ],
)
def test_a_rendered_transaction_is_of_its_kind(op: str, one: Transaction) -> None:
    assert workload_replay.is_one_of(op, one)
    assert not workload_replay.is_one_of("read-modify-write" if op == "scan" else "scan", one)


def test_a_batch_has_the_operation_of_its_op_as_often_as_requested() -> None:
    one = Transaction(("update",) * 3, batch=True)
    assert workload_replay.is_one_of("update", one, 3) and workload_replay.is_one_of("batch", one)
    assert not workload_replay.is_one_of("update", one) and not workload_replay.is_one_of("update", one, 2)
    assert not workload_replay.is_one_of("insert", one, 3)
    assert workload_replay.is_one_of("scan", Transaction(("read",) * 3, batch=True), 3)


def test_an_engine_that_writes_without_reading_adds_what_is_missing() -> None:
    steps = [("update", 0), ("delete", 3), ("update", 3), ("delete", 0), ("read", 1), ("insert", 6)]
    for adds, changes, rows in ((False, [0, 1, 0, 0, 0, 1], 5), (True, [1, 1, 1, 1, 0, 1], 6)):
        table = Table(range(1, 6), adds)
        assert [table.apply((Operation(*step),)) for step in steps] == changes
        assert table.rows == rows


def test_the_terminal_says_what_a_mixs_rates_are() -> None:
    """In words that hold for an engine without SQL, too."""
    stored = json.loads((Path(__file__).parent / "golden/summary.json").read_text())
    alone, mixed = (
        " ".join(terminal.table(one, Path("report.html")).split())
        for one in (stored, {**stored, "mixed": ["read", "update"]})
    )
    assert "write amplification 13.25 of the operations' data" in alone and "SQL" not in alone
    assert terminal.MIXED not in alone and f"read, update: {terminal.MIXED}" in mixed
