"""EXPECT= judges runs: its exit codes, its lines, and the cause of a difference. The runs were recorded."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from lab import Lab, edit

from analysis import diff
from analysis.diff import cost_by_cause
from analysis.run_files import derived, stored
from base.errors import BadInputError, LabError
from commitpath.commands import analysed_runs, board_commands, dispatch
from commitpath.results import expectations, marks, metrics, run_folders, run_verdicts
from commitpath.run import experiment
from commitpath.sweep import drive

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests/analysis"
EXIT_NO_VERDICT, EXIT_BAD_EXPECTED = 125, 128


@pytest.fixture
def delete(recorded: Callable[[str], Path]) -> Path:
    return recorded("samples/f2fs-delete")


@pytest.fixture
def wal(recorded: Callable[[str], Path]) -> Path:
    return recorded("samples/f2fs-wal")


@pytest.fixture
def watched(recorded: Callable[[str], Path]) -> Path:
    return recorded("watch-sample")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """ran(*runs, code=0): the next runs, in place of a board's, and the exit code of their analysis."""

    def prepare(*runs: Path | Exception, code: int = 0) -> None:
        left = list(runs)

        def run_once(*_: object, **__: object) -> Path:
            run = left.pop(0)
            if isinstance(run, Exception):
                raise run
            return run

        monkeypatch.setattr(experiment, "run_once", run_once)
        monkeypatch.setattr(analysed_runs, "analyse", lambda _: code)
        monkeypatch.setattr(board_commands, "ensure_packages", lambda **_: None)

    return prepare


def judged(capsys: pytest.CaptureFixture[str], command: str, *words: str) -> tuple[int, list[str]]:
    """(exit code, lines of standard error, or of the verdict if there are none)."""
    capsys.readouterr()
    code = dispatch.run([command, *words])
    printed = capsys.readouterr()
    return code, (printed.err or printed.out).splitlines()


def test_a_run_that_is_as_expected(ran: Any, wal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(wal)
    code, lines = judged(
        capsys, "experiment", "EXPECT=syncs.insert<=1.5 kib<=60 tps.insert>100 unattributed==0"
    )
    summary = json.loads((wal / "summary.json").read_text())
    kib = summary["block"]["bytes_written"] / 1024 / 24
    tps = summary["tps"]["insert"]
    assert code == 0
    assert lines == [
        f"as expected: syncs.insert=1.25 kib.all={kib:.6g} tps.insert={tps:.6g} unattributed.all=0"
    ]


def test_the_size_of_a_wal(delete: Path, wal: Path) -> None:
    # its header, and 70 frames of 24 transactions without a checkpoint
    assert metrics.value(run_folders.read(wal), "wal_kib", metrics.WHOLE) == (32 + 70 * (24 + 4096)) / 1024
    assert metrics.value(run_folders.read(delete), "wal_kib", metrics.WHOLE) is None


def test_a_run_that_lost_a_database_has_no_number_lost(lab: Lab) -> None:
    trials = {"CRASH": "power", "CUTS": "20", "DEVICE": "emmc-5.0"}
    run = run_folders.read(lab.run(took={"corrupt": 2, "unopened": 1}, **trials))
    name = expectations.Name("lost", "max")
    assert metrics.value(run, "lost", "max") is None
    # as bisect and trend print it
    assert run_verdicts.lacking(run, name) == (
        "the run has no lost.max; it has none: 3 of 20 cuts left no usable database"
    )
    kept = run_folders.read(lab.run(took={"worst": 2}, **trials))
    assert metrics.value(kept, "lost", "max") == 2


def test_numbers_of_two_writers() -> None:
    first = {"transactions": 90, "busy": 2, "longest_wait_ns": 5_000_000, "ns": 10**9}
    second = {"transactions": 30, "busy": 1, "longest_wait_ns": 8_000_000, "ns": 2 * 10**9}
    for writers, expected in (({"first": first, "second": second}, (3, 8, 15)), (None, (None,) * 3)):
        of_engine = {} if writers is None else {"writers": writers}
        cell = SimpleNamespace(engine="sqlite")
        run: Any = SimpleNamespace(document=lambda _, made={"sqlite": of_engine}: made, cell=cell)
        values = [metrics.value(run, name, metrics.WHOLE) for name in ("busy", "longest_wait", "second_tps")]
        assert tuple(values) == expected


def test_each_number_that_is_not_has_a_line_with_its_cause(
    ran: Any, delete: Path, wal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(delete)
    missed = ["syncs.insert<=1.5", "kib<=40", "tps.insert>=100", "flushes.insert<=2", "block_writes<=2"]
    words = f"EXPECT={' '.join(missed)} tps.update>=1", f"REFERENCE={wal}"
    code, lines = judged(capsys, "experiment", *words)
    assert code == 1
    a, b = (run_folders.read(folder) for folder in (wal, delete))
    reasons = []
    for line, expected in zip(lines, expectations.parse(" ".join(missed)), strict=True):
        values = [metrics.number(run, expected.name.metric, expected.name.op) for run in (b, a)]
        head = f"commitpath: expected {expected.text}, measured {values[0]:.6g}; {wal} has {values[1]:.6g}; "
        assert line.startswith(head)
        reasons.append(line.removeprefix(head).removeprefix("largest cause: "))
    assert reasons == [
        "syncs of journal, 0 → 2 per insert",
        "rollback journal, 0.0 KiB → 23 KiB per transaction",
        "waiting for data, 2.26 ms → 10 ms per insert",
        "flushes for journal, 0 → 2 per insert",
        "writes of rollback journal, 0 → 2.75 per transaction",
    ]


def test_the_newest_run_is_a_reference_after_the_next_one_too(
    ran: Any,
    delete: Path,
    wal: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    latest = tmp_path / "latest"
    latest.symlink_to(wal)

    def run_once(*_: object, **__: object) -> Path:
        latest.unlink()
        latest.symlink_to(delete)
        return delete

    ran()
    monkeypatch.setattr(experiment, "run_once", run_once)
    code, lines = judged(capsys, "experiment", "EXPECT=syncs.insert<=1.5", f"REFERENCE={latest}")
    assert code == 1 and lines[0].endswith("has 1.25; largest cause: syncs of journal, 0 → 2 per insert")


def test_without_a_reference_the_line_has_the_number(
    ran: Any, delete: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(delete, delete)
    # repeats of a run have one line
    code, lines = judged(capsys, "experiment", "EXPECT=tps.insert>=100", "REPEAT=2")
    assert code == 1 and lines[-1] == "commitpath: expected tps.insert>=100, measured 33.2719"
    assert sum("expected" in line for line in lines) == 1


def test_a_reference_of_numbers_or_of_another_load(
    ran: Any, delete: Path, watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shipped").write_text("tps.insert=150\n")
    ran(delete, delete)
    said = "commitpath: expected tps.insert>=100, measured 33.2719; "
    path = tmp_path / "shipped"
    code, lines = judged(capsys, "experiment", "EXPECT=tps.insert>=100 kib<1", f"REFERENCE={path}")
    assert code == 1 and lines[0] == f"{said}{path} has 150"
    assert lines[1].endswith(f"; {path} has no kib.all")
    code, lines = judged(capsys, "experiment", "EXPECT=kib<1", f"REFERENCE={watched}")
    assert lines[0].endswith(
        f"the cause is not known: not comparable with {watched}: load command and driver"
    )


@pytest.mark.parametrize("error", [LabError("the board died"), OSError(28, "No space")])
def test_a_run_that_fails_has_no_verdict(
    error: Exception, ran: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(error)
    code, lines = judged(capsys, "experiment", "EXPECT=tps>1")
    assert (code, lines) == (EXIT_NO_VERDICT, [f"commitpath: EXPECT: no verdict: {error}"])


def test_a_host_that_is_refused_before_the_run_has_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dispatch.places, "begin", lambda _: Path("/dev/null/x").mkdir())
    assert judged(capsys, "experiment", "EXPECT=tps>1")[0] == EXIT_NO_VERDICT
    assert judged(capsys, "experiment")[0] == 1


def test_a_request_that_is_refused_late_is_bad_input(ran: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ran(BadInputError("no FILE"))
    assert judged(capsys, "experiment", "EXPECT=tps>1") == (EXIT_BAD_EXPECTED, ["commitpath: no FILE"])


def test_a_fault_of_ours_is_no_verdict(ran: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ran(KeyError("tps"))
    code, lines = judged(capsys, "experiment", "EXPECT=tps>1")
    assert code == EXIT_NO_VERDICT
    assert lines[0].startswith("Traceback") and lines[-1] == "commitpath: EXPECT: no verdict: KeyError('tps')"


def test_a_rejected_run_has_no_verdict(
    ran: Any, wal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(shutil.copytree(wal, tmp_path / "run"))
    edit(run / "summary.json", status="rejected", reasons=["2 events lost"])
    ran(run, code=1)
    code, lines = judged(capsys, "experiment", "EXPECT=tps>1")
    assert code == EXIT_NO_VERDICT
    assert lines == [f"commitpath: EXPECT: no verdict: the run was rejected: 2 events lost (kept in {run})"]
    ran(run, code=1)
    assert judged(capsys, "experiment")[0] == 1
    code, lines = judged(capsys, "experiment", "EXPECT=tps>1", f"REFERENCE={run}")
    assert code == EXIT_BAD_EXPECTED
    assert lines == [f"commitpath: REFERENCE={run}: the run was rejected: 2 events lost"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["EXPECT=tsp>1"], "EXPECT, character 1: unknown metric tsp; did you mean tps? it is one of "),
        (["EXPECT=syncs.inser<1"], "EXPECT, character 1: syncs.inser: did you mean insert? "),
        (["EXPECT=tps>1", "REFERENCE=/nowhere"], "REFERENCE=/nowhere: no such run or file; "),
        (["REFERENCE=/nowhere"], "REFERENCE without EXPECT: "),
    ],
)
def test_a_slip_is_refused_before_anything_is_run(
    words: list[str], says: str, ran: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(AssertionError("it ran"))
    code, lines = judged(capsys, "experiment", *words)
    assert code == (EXIT_BAD_EXPECTED if "EXPECT" in words[0] else 2)
    assert len(lines) == 1 and lines[0].startswith(f"commitpath: {says}")


@pytest.mark.parametrize("word", ["MODE=wall", "MODEE=wal", "AXIS", "N=0", "FILE=/nowhere", "FS=f2fs"])
def test_git_bisect_ends_at_a_slip_in_another_variable(
    word: str, ran: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(AssertionError("it ran"))
    words = ["FS=f2fs", "WORKLOAD=sql", word]
    assert judged(capsys, "experiment", "EXPECT=tps>1", *words)[0] == EXIT_BAD_EXPECTED
    # a name that no file can have
    code, lines = judged(capsys, "experiment", "EXPECT=tps>1", "WORKLOAD=sql", f"FILE={'a' * 300}")
    assert code == EXIT_BAD_EXPECTED and len(lines) == 1
    # the words of a program are no settings
    assert judged(capsys, "watch", "MODE=wal", "--", "env", "EXPECT=tps>1")[0] == 2


def test_git_bisect_skips_a_commit_with_an_unfit_file(
    ran: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(AssertionError("it ran"))
    (path := tmp_path / "app.sql").write_text("CREATE TABLE t(x);\nINSERT INTO t VALUES('")
    words = ["experiment", "WORKLOAD=sql", f"FILE={path}"]
    code, lines = judged(capsys, *words, "EXPECT=tps>1")
    assert code == EXIT_NO_VERDICT and lines[0].startswith(f"commitpath: EXPECT: no verdict: FILE={path}: ")
    assert judged(capsys, *words)[0] == 2


def test_a_watched_command(
    ran: Any, watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["watch", "CMD=python3 insert.py"]
    ran(watched)
    code, lines = judged(
        capsys, *words, "EXPECT=syncs.insert<=2.5 kib<=52 tps>50 fua.insert<=1.1 unattributed==0"
    )
    assert code == 1 and lines == ["commitpath: expected kib<=52, measured 52.3721"]


def test_a_watched_command_without_known_transactions(
    ran: Any, watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(shutil.copytree(watched, tmp_path / "run"))
    unknown = {"said": "not known: it is static", "count": None, "rows": None}
    edit(run / "summary.json", transactions=unknown)
    costs = pl.read_parquet(run / "tables/costs.parquet")
    costs.clear().write_parquet(run / "tables/costs.parquet")
    derived.write(run)
    ran(run)
    code, lines = judged(capsys, "watch", "CMD=true", "EXPECT=syncs<=3 io_time<1")
    assert code == EXIT_NO_VERDICT
    why = "the run has no syncs.all; it has none: not known: it is static"
    assert lines == [f"commitpath: EXPECT: no verdict: {why}"]
    # a command that fails has been run, and is kept
    command = json.loads((watched / "summary.json").read_text())["command"]
    edit(run / "summary.json", command={**command, "failed": "the command ended with 1"})
    ran(run, code=1)
    code, lines = judged(capsys, "watch", "CMD=false", "EXPECT=io_time<1")
    assert code == EXIT_NO_VERDICT
    assert lines == [f"commitpath: EXPECT: no verdict: the command ended with 1 (kept in {run})"]


def test_an_operation_that_the_run_has_not(
    ran: Any, watched: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(watched)
    code, lines = judged(capsys, "watch", "CMD=true", "EXPECT=syncs.update<=3")
    assert code == EXIT_NO_VERDICT
    has = "syncs.all, syncs.create, syncs.insert, syncs.pragma"
    assert lines == [f"commitpath: EXPECT: no verdict: the run has no syncs.update; it has {has}"]


def test_each_cell_of_a_sweep_is_named(
    delete: Path, wal: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = {"d": run_folders.read(delete).cell, "w": run_folders.read(wal).cell}
    runs = {key: SimpleNamespace(key=key, cell=cell, grids=("two",)) for key, cell in cells.items()}
    folders = {"d": delete, "w": wal}
    failed = dict[str, str]()
    monkeypatch.setattr(drive, "planned", lambda *_: (runs, []))
    monkeypatch.setattr(drive, "carry_out", lambda *_: int(bool(failed)))
    monkeypatch.setattr(drive, "failure", lambda run: failed.get(run.key))
    monkeypatch.setattr(drive, "run_of", lambda key: str(folders[key]))
    code, lines = judged(capsys, "sweep", "GRID=two", "EXPECT=tps>1")
    assert code == 0 and lines[-1] == "as expected: 2 runs"
    assert "make figure GRID=two X=journal_mode FIGURE=two.pdf draws their TPS" in lines
    code, lines = judged(capsys, "sweep", "GRID=two", "EXPECT=tps.insert>100")
    assert code == 1
    assert lines == ["commitpath: journal_mode=delete: expected tps.insert>100, measured 33.2719"]
    failed["d"] = "it died"
    code, lines = judged(capsys, "sweep", "GRID=two", "EXPECT=tps.insert>100")
    assert (code, lines) == (EXIT_NO_VERDICT, ["commitpath: EXPECT: no verdict: 1 of 2 runs failed"])
    assert judged(capsys, "sweep", "GRID=two")[0] == 1
    # what does not hold in one run does not hold, whatever else failed
    assert judged(capsys, "sweep", "GRID=two", "EXPECT=tps.insert>200")[0] == 1
    monkeypatch.setattr(drive, "carry_out", lambda *_: pytest.fail("it ran"))
    assert judged(capsys, "sweep", "GRID=two", "EXPECT=tps.read>1")[0] == EXIT_BAD_EXPECTED


def test_each_side_of_a_comparison_is_named(lab: Lab, delete: Path, wal: Path) -> None:
    for run in (delete, wal):
        shutil.copytree(run, lab.results / run.parent.name / run.name)
    sides = {"A": "mode=delete", "B": "mode=wal"}
    assert lab.ok("compare", **sides, EXPECT="tps>1").endswith("as expected: 2 runs\n")
    # a reference by its id
    done = lab.make("compare", **sides, EXPECT="tps.insert>100", REFERENCE=wal.name)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"commitpath: A: expected tps.insert>100, measured 33.2719; {wal.name} has 123.698; largest cause: "
    )
    assert len(done.stderr.splitlines()) == 1
    assert "medians of tps" in done.stdout
    # before anything is printed
    done = lab.make("compare", **sides, EXPECT="syncs.inser<1")
    assert done.returncode == EXIT_BAD_EXPECTED and not done.stdout
    assert "syncs.inser: did you mean insert? " in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("gone", ["output", "both"])
@pytest.mark.parametrize(
    ("expected", "code"), [("tps.insert>100", 1), ("tps.insert>1", 0), ("tps.x>1", EXIT_BAD_EXPECTED)]
)
def test_a_reader_that_has_gone_does_not_change_the_verdict(
    unbuffered: str, gone: str, expected: str, code: int, lab: Lab, delete: Path, wal: Path
) -> None:
    for run in (delete, wal):
        shutil.copytree(run, lab.results / run.parent.name / run.name)
    read, write = os.pipe()
    os.close(read)
    words = ("--folder", ROOT, "compare", "A=mode=delete", "B=mode=wal", f"EXPECT={expected}")
    environment = {"COMMITPATH_RESULTS": str(lab.results), "PYTHONUNBUFFERED": unbuffered}
    with os.fdopen(write, "w") as output:
        ended = subprocess.run(
            [sys.executable, "-m", "commitpath", *words],
            stdout=output,
            stderr=output if gone == "both" else subprocess.PIPE,
            env={**os.environ, **environment},
            cwd=ROOT,
            check=False,
        )
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in str(ended.stderr)


def test_a_reference_with_a_name_that_is_too_long(lab: Lab) -> None:
    said = lab.says("compare", A="mode=wal", B="mode=off", EXPECT="tps>1", REFERENCE="x" * 5000)
    assert said == f"commitpath: REFERENCE={'x' * 40}…: File name too long"


@pytest.mark.parametrize("name", ["samples/f2fs-delete", "watch-sample"])
def test_the_parts_of_a_metric_are_the_metric(name: str, recorded: Callable[[str], Path]) -> None:
    run = run_folders.read(folder := recorded(name))
    opened = stored.read(folder, any_load=True)
    unit = {"kib": 1024, "tx_latency": 1e6, "io_time": 1e9 / marks.transactions(run)}
    compared = 0
    for metric, spec in metrics.METRICS.items():
        for op in (metrics.WHOLE, "insert"):
            measured = metrics.value(run, metric, op) if metric in run_folders.OF_COMMANDS else None
            # times are the baseline run's, their parts the watched run's
            if not spec.quantity or measured is None or (spec.quantity == "time" and op != metrics.WHOLE):
                continue
            if metric == "tps" or (spec.quantity == "time" and "watch" in name):
                continue
            parts = cost_by_cause.parts(opened, spec.quantity, None if op == metrics.WHOLE else op)
            assert sum(parts.values()) == pytest.approx(measured * unit.get(metric, 1)), (metric, op)
            compared += 1
    assert compared == (14 if "f2fs" in name else 12)


def test_causes_are_those_of_a_diff(delete: Path, wal: Path) -> None:
    found = diff.compare(wal, delete)
    runs = stored.read(wal), stored.read(delete)
    for op in ("insert", "update", "delete"):
        for quantity, names in (("bytes", diff.LABELS), ("time", diff.TIMES)):
            for side, run in enumerate(runs):
                parts = cost_by_cause.parts(run, quantity, op)
                means = {name: found.means[op][name][side] for name in names}
                shown = {cost_by_cause.TIME_WORDS.get(name, name): mean for name, mean in means.items()}
                assert {name: part for name, part in parts.items() if part} == pytest.approx(
                    {name: mean for name, mean in shown.items() if mean}
                )


def test_every_quantity_of_a_metric_has_causes(delete: Path) -> None:
    run = stored.read(delete)
    for quantity in {spec.quantity for spec in metrics.METRICS.values()} - {""}:
        assert cost_by_cause.parts(run, quantity)


def test_a_run_without_the_files_or_the_records_has_no_cause(delete: Path, wal: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(wal, tmp_path / "run"))
    edit(other / "cell.json", n=9)
    with pytest.raises(Exception, match=r"not comparable with .*: N is 8 and 9"):
        cost_by_cause.largest((stored.read(delete), stored.read(other)), "bytes", "insert")
    (other / "tables/costs.parquet").unlink()
    with pytest.raises(Exception, match="no such table"):
        cost_by_cause.parts(stored.read(other), "syncs")
