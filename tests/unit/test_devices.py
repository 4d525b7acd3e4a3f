"""Device profiles: what the schema asks of them is what the drivers take."""

import re
from pathlib import Path

import pytest

from commitpath import cell as cells
from commitpath.errors import BadInputError

ROOT = Path(__file__).resolve().parents[2]


def test_schema_lists_the_parameters_of_the_flash_model() -> None:
    source = (ROOT / "images/flash/model.h").read_text()
    table = source[source.index("#define FLASH_PARAMETERS(P)") : source.index("struct flash_parameters")]
    rows = re.findall(r"P\((\w+), ([01]),", table)
    then = cells.schema()["$defs"]["device"]["then"]["properties"]
    for section, live in (("geometry", "0"), ("timing", "1")):
        names = sorted(name for name, flag in rows if flag == live)
        assert sorted(then[section]["required"]) == names
        assert sorted(then[section]["properties"]) == names


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("dies: 2", "dies: -2"), "geometry.dies: -2 is less than the minimum"),
        (("  dies: 2\n", ""), "geometry: 'dies' is a required property"),
        (("  dies: 2\n", "  dies: 2\n  diez: 2\n"), "'diez' was unexpected"),
        (("  program_ns: 1300000\n", ""), "timing: 'program_ns' is a required property"),
        (("driver: flash", "driver: floppy"), "'floppy' is not one of"),
    ],
)
def test_bad_profile_is_one_line(
    change: tuple[str, str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "experiments/device/galaxy-nexus.yml").read_text()
    assert change[0] in text
    file = tmp_path / "odd.yml"
    file.write_text(text.replace(*change, 1))
    monkeypatch.setattr(cells.Axis, "files", lambda _: {"odd": file})
    with pytest.raises(BadInputError, match=re.escape(says)):
        cells.load_profile("device", "odd")
