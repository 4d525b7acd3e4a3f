"""Fit of a profile: it finds the parameters of a device that the model measured."""

from typing import Any

import pytest

from base.errors import BadInputError
from commitpath.cells.profiles import load_profile
from commitpath.run import fit_profile
from commitpath.run.curves import of_source


def measured(device: str, **timing: int) -> dict[str, Any]:
    """Return a profile whose sources are what the model with other timing gives."""
    profile = load_profile("device", device)
    hidden = fit_profile.with_timing(profile, timing)
    sources = [
        {"measure": name, "unit": "us"}
        for name in ("read_random_4k_qd1", "write_random_4k_qd1", "write_fua_4k")
    ]
    return {**profile, "sources": [{**s, "value": of_source(hidden, s, 0)} for s in sources]}


def test_fit_finds_hidden_parameters() -> None:
    profile = measured("emmc-5.0", command_ns=50000, read_ns=90000)
    found = fit_profile.fit([profile], ["command_ns", "read_ns"], 0)
    assert found == pytest.approx({"command_ns": 50000, "read_ns": 90000}, rel=0.02)
    assert all(ratio == pytest.approx(1, rel=0.02) for _, ratio in
               fit_profile.ratios(fit_profile.with_timing(profile, found), 0))  # fmt: skip


def test_more_parameters_than_sources() -> None:
    with pytest.raises(BadInputError, match="2 parameters need as many sources; there are 1"):
        fit_profile.fit(
            [measured("emmc-5.0")], ["command_ns", "read_ns"], 0, ["write_fua_4k", "read_random_4k_qd1"]
        )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["DEVICE=emmc-5.0"], "expected DEVICE=, PARAMETERS="),
        (["DEVICE=emmc-5.0", "PARAMETERS=comand_ns"], "did you mean command_ns"),
        (["DEVICE=emmc-5.0", "PARAMETERS=command_ns", "HOST_NS=x"], "HOST_NS=x: HOST_NS is 0 to"),
        (["DEVICE=emmc-5.0", "PARAMETERS=command_ns", "WITHOUT=all"], "WITHOUT=all: no source has that name"),
    ],
)
def test_bad_call_is_one_line(words: list[str], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        fit_profile.main(words)
