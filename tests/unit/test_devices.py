"""Device profiles: what the schema asks of them is what the drivers take."""

import re
import subprocess
from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath import cell as cells

ROOT = Path(__file__).resolve().parents[2]


def test_schema_lists_the_parameters_of_the_flash_model() -> None:
    source = (ROOT / "images/flash/model.h").read_text()
    table = source[source.index("#define FLASH_PARAMETERS(P)") : source.index("struct flash_parameters")]
    constants = dict(re.findall(r"#define (FLASH_\w+) (\d+)", source))
    rows = re.findall(r"P\((\w+), ([01]), (\w+), (\w+)\)", table)
    then = cells.schema()["$defs"]["device"]["then"]["properties"]
    for section, live in (("geometry", "0"), ("timing", "1")):
        ranges = {
            name: {
                "minimum": int(least.removesuffix("ULL")),
                "maximum": int(constants.get(most, most).removesuffix("ULL")),
            }
            for name, flag, least, most in rows
            if flag == live
        }
        assert ranges
        assert then[section]["properties"] == ranges
        assert sorted(then[section]["required"]) == sorted(ranges)


def test_schema_lists_what_is_measured() -> None:
    script = (ROOT / "images/flash/calibrate.sh").read_text()
    listing = script[script.index("list=()") : script.index("out=$(mktemp)")]
    command = ["bash", "-c", listing + 'printf "%s\\n" "${list[@]%%:*}"']
    measured = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    source = cells.schema()["$defs"]["device"]["properties"]["sources"]["items"]["properties"]
    assert sorted(source["measure"]["enum"]) == sorted(measured)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("dies: 2", "dies: -2"), "odd.yml: geometry.dies: -2 is not allowed, only 1 to 64"),
        (("dies: 2", "dies: 65"), "odd.yml: geometry.dies: 65 is not allowed, only 1 to 64"),
        (("dies: 2", "dies: two"), "geometry.dies: 'two' is not of type 'integer'"),
        (("dies: 2", "dies: 2.0"), "geometry.dies: 2.0 is not of type 'integer'"),
        (
            ("program_ns: 1300000", "program_ns: 1000000001"),
            "odd.yml: timing.program_ns: 1000000001 is not allowed, only 0 to 1000000000",
        ),
        (("  dies: 2\n", ""), "geometry: 'dies' is a required property"),
        (("  dies: 2\n", "  dies: 2\n  diez: 2\n"), "'diez' was unexpected"),
        (("  program_ns: 1300000\n", ""), "timing: 'program_ns' is a required property"),
        (("driver: flash", "driver: floppy"), "'floppy' is not one of"),
        (("write_random_4k_qd1\n", "write_random_4k_qd3\n"), "'write_random_4k_qd3' is not one of"),
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
