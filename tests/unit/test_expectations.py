"""EXPECT= and REFERENCE=: what they may say, and the place of what they may not."""

from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.cells.from_variables import make_cell
from commitpath.results import expectations, run_verdicts
from commitpath.results.expectations import Name
from commitpath.results.metrics import METRICS
from commitpath.run.watch import command_cell


def test_each_part_of_an_expectation_is_read() -> None:
    text = (
        " syncs.INSERT<=1.1  KiB <26\tlost.max == 0 tps.10:1:1>=1.5e2 tps.read-modify-write!=+3 p99.insert>2"
    )
    read = [(str(one.name), one.comparison, one.limit, one.text) for one in expectations.parse(text)]
    assert read == [
        ("syncs.insert", "<=", 1.1, "syncs.INSERT<=1.1"),
        ("kib.all", "<", 26, "KiB<26"),
        ("lost.max", "==", 0, "lost.max==0"),
        ("tps.10:1:1", ">=", 150, "tps.10:1:1>=1.5e2"),
        ("tps.read-modify-write", "!=", 3, "tps.read-modify-write!=+3"),
        ("p99.insert", ">", 2, "p99.insert>2"),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "unattributed<=50",
            "1: unattributed<=50: it cannot fail: in a run that counts unattributed is from",
        ),
        ("tps>1 unattributed<0.0011", "7: unattributed<0.0011: it cannot fail: "),
        ("unattributed==0.5", "1: unattributed==0.5: it cannot hold: "),
        ("syncs>=0", "1: syncs>=0: it cannot fail: in a run that counts syncs is 0 or more"),
        ("tps.insert!=-1", "1: tps.insert!=-1: it cannot fail: "),
        ("kib<0", "1: kib<0: it cannot hold: "),
    ],
)
def test_a_limit_that_decides_nothing_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadInputError) as error:
        expectations.parse(text)
    assert str(error.value).startswith(f"EXPECT, character {says}")


def test_a_limit_at_the_end_of_the_values_decides() -> None:
    # the limit of the check that rejects a run: of 0.1 % of the bytes
    assert (
        len(expectations.parse("unattributed<0.001 unattributed<=0.0005 unattributed==0 tps>0 kib<=1e99"))
        == 5
    )


@pytest.mark.parametrize(
    ("comparison", "holding"),
    [("<=", (1, 2)), (">=", (2, 3)), ("==", (2,)), ("!=", (1, 3)), ("<", (1,)), (">", (3,))],
)
def test_a_comparison_holds(comparison: str, holding: tuple[int, ...]) -> None:
    (expected,) = expectations.parse(f"tps{comparison}2")
    assert tuple(value for value in (1, 2, 3) if expected.holds(value)) == holding


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "EXPECT=: no expectation; EXPECT='syncs"),
        (" ", "EXPECT=: no expectation; EXPECT='syncs"),
        (
            "sync<=1",
            f"EXPECT, character 1: unknown metric sync; did you mean syncs? it is one of {len(METRICS)} "
            "(`make help figure` lists them)",
        ),
        ("tps>=1 bytes<3", "EXPECT, character 8: unknown metric bytes; "),
        (
            "tps>=1; kib<3",
            "EXPECT, character 6: expected a number such as 26 or 1.5e3 after tps.all>=, not '1;'",
        ),
        ("tps.>=1", "EXPECT, character 5: expected an operation after tps., not '>=1'"),
        ("tps.insert=1", "EXPECT, character 11: expected one of <= >= == != < > after tps.insert, not '=1'"),
        ("tps.insert", "EXPECT, character 11: expected one of <= >= == != < > after tps.insert, not the end"),
        (
            "kib<=26KiB",
            "EXPECT, character 6: expected a number such as 26 or 1.5e3 after kib.all<=, not '26KiB'",
        ),
        ("kib<=", "EXPECT, character 6: expected a number such as 26 or 1.5e3 after kib.all<=, not the end"),
        ("kib<=1e999", "EXPECT, character 6: expected a number"),
        ("kib<=nan", "EXPECT, character 6: expected a number"),
        ("<=1", "EXPECT, character 1: expected a metric, not '<=1'"),
        ("lost.worst==0", "EXPECT, character 6: lost has no worst; it has all, max, mean"),
        ("io_time.insert<1", "EXPECT, character 9: io_time has no insert; it has all"),
        ("p99<2", "EXPECT, character 4: p99 is of one operation, such as p99.insert"),
        ("kib.1:1<2", "EXPECT, character 5: weights are for tps, ops, tx_latency"),
        ("kib.a:b<=1", "EXPECT, character 5: op: "),
        ("tps.1:<2", "EXPECT, character 5: op: '1:' is unknown"),
    ],
)
def test_what_is_no_expectation_is_named_with_its_place(text: str, says: str) -> None:
    with pytest.raises(BadInputError) as error:
        expectations.parse(text)
    assert str(error.value).startswith(says)


def check(text: str, *cells: dict[str, str]) -> None:
    expectations.check(expectations.parse(text), map(make_cell, cells))


def test_a_number_that_no_run_of_the_cell_has_is_refused(tmp_path: Path) -> None:
    check("syncs.insert<=1 tps.insert>=1 tps.1:1:1>2 kib<3 unattributed==0", {})
    check("sync_p99.wal<=7 sync_max<=300", {})
    check("lost.max==0 recovery_seconds<1 tps>1", {"CRASH": "power", "PROBES": "none", "DEVICE": "emmc-5.0"})
    # operations of a user's file are known from its run
    (tmp_path / "a.sql").write_text("CREATE TABLE t(x);\nINSERT INTO t VALUES(1);\n")
    check("syncs.sql<=1", {"WORKLOAD": "sql", "FILE": str(tmp_path / "a.sql")})
    ops = "WORKLOAD=apsys17 has insert, update, delete, all"
    unwatched = {"PROBES": "none"}
    for text, cell, says in (
        ("tps>1 syncs.inserts<=1", {}, f"7: syncs.inserts: did you mean insert? {ops}"),
        ("tps.read>1", {}, f"1: tps.read: {ops}"),
        ("lost.max==0", {}, "1: lost.max: only a run with CRASH has it"),
        ("kib<2", unwatched, "1: kib.all: PROBES=none does not record it"),
        ("sync_p50<2", unwatched, "1: sync_p50.all: PROBES=none does not record it"),
    ):
        with pytest.raises(BadInputError) as error:
            check(text, {}, cell)
        assert str(error.value) == f"EXPECT, character {says}"


@pytest.mark.parametrize(
    ("text", "cell", "says"),
    [
        ("tps.1:1>=5", {}, "takes a weight for each of insert, update, delete"),
        ("wal_kib<=5", {"JOURNAL_MODE": "delete"}, "only a run with MODE=wal has it"),
        ("wal_kib<=5", {"ENGINE": "leveldb"}, "only a run with MODE=wal has it"),
        ("busy<=5", {"JOURNAL_MODE": "wal"}, "only a run with WRITERS=2 has it"),
        ("second_tps>=5", {}, "only a run with WRITERS=2 has it"),
    ],
)
def test_a_number_of_other_cells_is_refused_before_the_run(
    text: str, cell: dict[str, str], says: str
) -> None:
    with pytest.raises(BadInputError, match=says):
        check(text, cell)


def test_a_number_of_such_cells_is_taken() -> None:
    check("tps.1:1:1>=5 wal_kib<=5", {"JOURNAL_MODE": "wal"})
    check("busy<=5 longest_wait<=5", {"WRITERS": "2", "PACE": "20/s"})


def test_a_mix_of_nothing_is_refused() -> None:
    with pytest.raises(BadInputError, match="all weights are 0"):
        expectations.parse("tps.0:0:0>=5")


def test_a_watched_command_has_some_of_the_metrics() -> None:
    cell = command_cell({"CMD": "true"})
    expectations.check(expectations.parse("syncs.create<=4 kib<9 unattributed==0"), [cell])
    with pytest.raises(
        BadInputError, match=r"^EXPECT, character 1: p99.insert: a watched command has no p99; it"
    ):
        expectations.check(expectations.parse("p99.insert<4"), [cell])


def test_a_reference_may_be_a_file_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "costs.txt"
    path.write_text("# of release 1\nsyncs.insert=1.02 kib=26.5  # both\n\nlost.max=0\n")
    reference = run_verdicts.read(str(path), expectations.parse("syncs.insert<=1 tps>4"))
    assert reference.value(Name("syncs", "insert")) == 1.02
    assert reference.value(Name("kib")) == 26.5
    assert reference.value(Name("tps")) is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("syncs=1\nkibs=2\n", "{path}, line 2, character 1: unknown metric kibs; did you mean kib? "),
        ("syncs=1 syncs.all=2", "{path}, line 1: syncs.all is given twice"),
        ("syncs<=1", "{path}, line 1, character 6: expected = after syncs.all, not '<=1'"),
        ("syncs=1x", "{path}, line 1, character 7: expected a number such as 26 or 1.5e3 after syncs"),
        ("syncs=1", "{path}: it has none of kib.all"),
        ("", "{path}: it has none of kib.all"),
    ],
)
def test_a_file_of_numbers_is_checked(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "costs.txt"
    path.write_text(content)
    with pytest.raises(BadInputError) as error:
        run_verdicts.read(str(path), expectations.parse("kib<=1"))
    assert str(error.value).startswith(f"REFERENCE={says.format(path=path)}")


@pytest.mark.parametrize("text", ["nowhere", "20261126T191014Z-9747", "*"])
def test_a_reference_that_is_not_there(text: str) -> None:
    with pytest.raises(BadInputError, match=r": no such run or file; a run is named by its "):
        run_verdicts.read(text, [])
