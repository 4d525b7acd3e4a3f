"""Profiles of mixes, and what they become: variables, the driver's options, what is read back."""

import pytest

from base.errors import BadInputError
from commitpath.boards import payload
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from commitpath.results.query import is_cell
from model import operations, workloads
from model.cell import MIX, unused
from model.requested import expected

MIXES = [name for name in axes()["workload"].files() if "mix" in load_profile("workload", name)]


@pytest.mark.parametrize("name", MIXES)
def test_each_mix_adds_up(name: str) -> None:
    profile = load_profile("workload", name)
    assert sum(profile["mix"].values()) == 100
    kinds = operations.kinds()
    assert all(kind in kinds and kind not in ("batch", "sql") for kind in profile["mix"])
    assert set(profile["defaults"]) <= set(axes())
    cell = make_cell({"WORKLOAD": name, "N": "10"})
    made = list(workloads.transactions(workloads.by_name("mix"), workloads.options(cell), ["mix"]))  # type: ignore[arg-type]
    assert {one[0].kind for one in made} <= set(workloads.ops(cell.profiles["workload"])) and len(made) == 10
    assert is_cell({"workload": name, "n": "10"}, cell)
    assert not is_cell({"workload": name, "n": "10", "batch": "2"}, cell)


def test_a_default_of_the_workload_is_one_of_the_axis_unless_it_is_set() -> None:
    cell = make_cell({"WORKLOAD": "ycsb-a"})
    assert (cell.value_size, cell.request_distribution, cell.batch) == (1000, "scrambled_zipfian", 1)
    cell = make_cell(
        {"WORKLOAD": "ycsb-a", "VALUE_SIZE": "64", "REQUEST_DISTRIBUTION": "zipfian", "BATCH": "9"}
    )
    assert (cell.value_size, cell.request_distribution, cell.batch) == (64, "zipfian", 9)
    options = payload.driver_env(cell, "/mnt/a.db")["DRIVER_OPTIONS"]
    for option in (
        "--mix read=50,update=50",
        "--request-distribution zipfian",
        "--batch 9",
        "--value-size 64",
    ):
        assert option in options
    requested = {one.name: one.requested for one in expected.settings(cell)}
    assert requested["mix"] == "read=50,update=50" and requested["insert_order"] == "hashed"
    assert (
        "--insert-order hashed --value-size-distribution constant"
        in payload.populated(cell)["populate_options"]
    )


def test_mixes_share_a_prepared_board() -> None:
    """The rows before a run, and the rehearsal, do not depend on the shares."""
    a, b = (make_cell({"WORKLOAD": name}) for name in ("ycsb-a", "ycsb-e"))
    assert payload.populated(a) == payload.populated(b) and payload.rehearsal(a) == payload.rehearsal(b)
    ordered = make_cell({"WORKLOAD": "ycsb-a", "INSERT_ORDER": "ordered"})
    assert payload.populated(ordered) != payload.populated(a)


def test_other_workloads_do_not_show_these_axes() -> None:
    of_mix = {name for name, axis in axes().items() if axis.spec["x-of"] == MIX}
    assert (
        of_mix and of_mix <= unused(make_cell({})) and not of_mix & unused(make_cell({"WORKLOAD": "ycsb-c"}))
    )


@pytest.mark.parametrize(
    ("given", "expected_text"),
    [
        ({"BATCH": "3"}, "BATCH: WORKLOAD=apsys17 is not a mix of operations; use one that is"),
        (
            {"WORKLOAD": "ycsb-a", "VALUE_SIZE": "10", "VALUE_SIZE_DISTRIBUTION": "zipfian"},
            "VALUE_SIZE=10: with VALUE_SIZE_DISTRIBUTION=zipfian sizes are from 64 to VALUE_SIZE",
        ),
        ({"WORKLOAD": "ycsb-b", "VALUE_SIZE": "7"}, "VALUE_SIZE=7: WORKLOAD=ycsb-b has updates, and a value"),
        ({"WORKLOAD": "ycsb-f", "BATCH": "3"}, "BATCH=3: WORKLOAD=ycsb-f has read-modify-writes"),
        ({"WORKLOAD": "ycsb-c", "ROWS": "0"}, "ROWS=0: WORKLOAD=ycsb-c takes at least 1"),
        ({"WORKLOAD": "ycsb-c", "BATCH": "1000"}, "BATCH is a whole number from 1 to 999 operations"),
    ],
)
def test_refused(given: dict[str, str], expected_text: str) -> None:
    with pytest.raises(BadInputError) as refused:
        make_cell(given)
    assert expected_text in str(refused.value)
