"""The driver's tables: what no driver writes is refused, with its line, whichever reader looks at it."""

import re
from pathlib import Path

import edited
import pytest

from analysis import __main__ as command
from analysis import stages
from analysis.adapters import drivertables
from analysis.checks import counts
from base.errors import FileError
from base.paths import ROOT
from model import operations

TRANSACTIONS, STAT = "raw/driver/transactions.csv", "raw/driver/device_stat.csv"
KINDS = ", ".join(operations.kinds())
CALLS = "call,op,file,begin_ns,end_ns,inode,offset,bytes,page,result\n0,write,wal,1,2,12,0,4096,,0\n"


@pytest.mark.parametrize(
    ("table", "name", "value", "says"),
    [
        (TRANSACTIONS, "op", "inf", f"op is 'inf'; expected {KINDS}"),
        (TRANSACTIONS, "op", "x" * 1000, f"x…'; expected {KINDS}"),
        (STAT, "write_ios", "-1", "write_ios is -1; expected 0 or more"),
        (STAT, "flush_ios", "", "flush_ios is None; expected a number in each line or in none"),
        (STAT, "write_ios", "", "write_ios is ''; expected a 64-bit integer"),
        (STAT, "time_ns", "1", "time_ns is 1; expected no less than the line before has"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    table: str, name: str, value: str, says: str, run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited.table(run_dir / table, lambda rows: rows[1].update({name: value}))
    assert command.main([str(run_dir)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"commitpath: {run_dir / table}: line 3: ") and said.endswith(f"{says}\n")
    assert len(said) < 400


@pytest.mark.parametrize(
    ("kernel", "lacks"),
    [
        ("Linux board 4.17.0-rc1 #1 SMP aarch64 GNU/Linux", ""),
        (
            "Linux board 4.19.0 #1 SMP aarch64 GNU/Linux",
            "discard_ios is missing, which kernels have since 4.18",
        ),
        (
            "Linux board 6.12.73 #1 SMP aarch64 GNU/Linux",
            "flush_ios is missing, which kernels have since 5.5",
        ),
    ],
)
def test_a_counter_may_be_missing_that_the_kernel_lacks(kernel: str, lacks: str, run_dir: Path) -> None:
    missing = dict.fromkeys(drivertables.LATER, "")
    edited.table(run_dir / STAT, lambda rows: [row.update(missing) for row in rows])
    run = stages.build(run_dir)
    run.board.texts["kernel"] = kernel
    said = counts.device_idle(run)
    assert any(lacks in reason for reason in said) if lacks else not said
    assert counts.from_stat(run)["flushes"] is None


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("op", "1e3", "op is '1e3'; expected open, close, write"),
        ("file", "none", "file is 'none'; expected "),
        ("bytes", "-9223372036854775808", "bytes is -9223372036854775808; expected 0 or more"),
        ("offset", "9223372036854775807", "bytes is 4096; expected an end of them below 2^63"),
    ],
)
def test_a_call_that_cannot_be_is_refused(name: str, value: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "vfs.csv"
    path.write_text(CALLS)
    assert drivertables.calls(path)["bytes"].to_list() == [4096]
    edited.table(path, lambda rows: rows[0].update({name: value}))
    with pytest.raises(FileError, match=re.escape(f"line 2: {says}")):
        drivertables.calls(path)


def test_the_calls_are_those_of_the_driver() -> None:
    source = (ROOT / "workloads/file_calls.c").read_text()
    named = re.search(r"op_names\[\] = \{(.*?)\}", source, re.DOTALL)
    assert named and tuple(re.findall('"([a-z_]+)"', named[1])) == drivertables.OPERATIONS
