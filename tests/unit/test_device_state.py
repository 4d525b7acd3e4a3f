"""DEVICE_STATE: a used device is its profile with other parameters, and a cell of its own."""

import re

import pytest

from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS
from commitpath.cells import identities
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from model.requested import expected

USED = {"DEVICE": "emmc-5.0", "DEVICE_STATE": "used"}


def test_a_used_device_is_prepared_and_read_back() -> None:
    state = load_yaml(EXPERIMENTS / "device_state/used.yml")
    cell, fresh = make_cell(USED), make_cell({"DEVICE": "emmc-5.0"})
    geometry = load_profile("device", "emmc-5.0")["geometry"]
    assert fresh.profiles["device"]["geometry"] == geometry
    for name in ("fill_permille", "overwrite_permille"):
        assert geometry[name] == 0 < state[name]
        assert cell.profiles["device"]["geometry"][name] == state[name]
    wanted = {one.name: one.requested for one in expected.settings(cell) if one.group == expected.DEVICE}
    assert wanted["fill_permille"] == str(state["fill_permille"])
    assert identities.cell_id(cell) != identities.cell_id(fresh)
    assert identities.other_profiles(cell) == []


@pytest.mark.parametrize("device", ["constant", "galaxy-nexus"])
def test_a_device_without_a_page_map_has_no_state(device: str) -> None:
    said = f"DEVICE_STATE=used: DEVICE={device} has no page map to fill and overwrite; use DEVICE=emmc-5.0"
    with pytest.raises(BadInputError, match=re.escape(said)):
        make_cell({"DEVICE": device, "DEVICE_STATE": "used"})
