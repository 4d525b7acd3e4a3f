"""The typed cell: fields as the schema's axes, read back from its document; other types are refused."""

from typing import Any

import pytest

from base.errors import BadInputError
from base.schema import schema
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import stored
from commitpath.run.watch import command_cell
from model import cell as cells


def test_its_fields_are_the_schemas_axes() -> None:
    def kind(spec: dict[str, Any]) -> type:
        number = spec.get("type") == "integer" or all(type(one) is int for one in spec.get("enum", [""]))
        return int if number else str

    axes = schema()["properties"]
    assert {name: kind(spec) for name, spec in axes.items()} == cells.AXES
    assert list(axes) == list(cells.AXES)


@pytest.mark.parametrize("variables", [{}, {"ENGINE": "ssl", "KERNEL": "6.1", "PROBES": "none"}])
def test_it_is_read_back_from_its_document(variables: dict[str, str]) -> None:
    cell = make_cell(variables)
    assert cells.from_document(stored(cell)) == cell
    assert list(cell.document()) == sorted(cell.document())


def test_a_commands_cell_is_read_back() -> None:
    cell = command_cell({"CMD": "true"})
    assert cells.from_document(stored(cell)) == cell
    assert not cell.has("rows") and "rows" not in cell.document()
    assert not cell.document().keys() & {"others", "absent"}


def test_an_axis_of_another_lab_is_kept() -> None:
    document = {**stored(make_cell({})), "moon": "full"}
    cell = cells.from_document(document)
    assert cell.has("moon") and cell.value("moon") == "full"
    assert cell.document()["moon"] == "full"
    with pytest.raises(KeyError):
        cell.value("sun")


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [("rows", "10", "a whole number"), ("seed", True, "a whole number"), ("fs", 4, "text")],
)
def test_an_axis_of_another_type_is_refused(name: str, value: object, kind: str) -> None:
    with pytest.raises(BadInputError, match=f"^cell: {name}: {value!r} is not {kind}"):
        cells.from_document({**stored(make_cell({})), name: value})
