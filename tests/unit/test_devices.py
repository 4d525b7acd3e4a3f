"""Device profiles: the schema fits the drivers, numbers have sources, `like` fills in; others are refused."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from some_cell import some_cell

from base.data import load_yaml
from base.errors import BadInputError
from base.schema import schema
from commitpath.cells import axes, from_variables, profiles
from commitpath.run import curves
from model import devices

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "images/devices/flashsim"


def test_schema_lists_the_parameters_of_the_flash_model() -> None:
    source = (DRIVER / "model.h").read_text()
    table = source[source.index("#define FLASH_PARAMETERS(P)") : source.index("struct flash_parameters")]
    constants = dict(re.findall(r"#define (FLASH_\w+) (\d+)", source))
    rows = re.findall(r"P\((\w+), ([01]), (\w+), (\w+)\)", table)
    then = load_yaml(DRIVER / "attributes.yml")["properties"]
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
    script = (ROOT / "playbooks/board/calibrate.sh").read_text()
    listing = script[script.index("list=()") : script.index("out=$(mktemp)")]
    command = ["bash", "-c", listing + 'printf "%s\\n" "${list[@]%%:*}"']
    measured = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    source = schema()["$defs"]["device"]["properties"]["sources"]["items"]["properties"]
    assert sorted(source["measure"]["enum"]) == sorted([*measured, *curves.CURVES])
    points = schema()["$defs"]["device"]["properties"]["sources"]["items"]["if"]["properties"]
    assert sorted(points["measure"]["enum"]) == sorted(curves.CURVES)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("dies: 2", "dies: 65"), "odd.yml: geometry.dies: 65 is not allowed, only 1 to 64"),
        (("dies: 2", "dies: two"), "geometry.dies: 'two' is not of type 'integer'"),
        (("  dies: 2\n", ""), "geometry: 'dies' is a required property"),
        (("  dies: 2\n", "  dies: 2\n  diez: 2\n"), "'diez' was unexpected"),
        (
            ("driver: flashsim", "driver: floppy"),
            "odd.yml: driver: 'floppy' is unknown; there are flashsim, null_blk, own",
        ),
        (("write_random_4k_qd1\n", "write_random_4k_qd3\n"), "'write_random_4k_qd3' is not one of"),
        (("write_random_4k_qd1\n", "open_units\n"), "sources.0: 'at' is a required property"),
        (("value: 7266", "value: .nan"), "sources.0.value: nan is not of type 'number'"),
        (("value: 7266", "value: .inf"), "sources.0.value: inf is not of type 'number'"),
        (("write_random_4k_qd1\n", "read_size\n    at: 0\n"), "sources.0.at: 0 is not allowed, only 1 to "),
        (("write_random_4k_qd1\n", "read_size\n    at: 1024\n"), "at: 1024 is not allowed, only 1 to 512"),
        (("write_random_4k_qd1\n", "read_depth\n    at: 0.5\n"), "at: 0.5 is not allowed, only 1 to"),
    ],
)
def test_bad_profile_is_one_line(
    change: tuple[str, str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "experiments/device/galaxy-nexus.yml").read_text()
    assert change[0] in text
    file = tmp_path / "odd.yml"
    file.write_text(text.replace(*change, 1))
    monkeypatch.setattr(axes.Axis, "files", lambda _: {"odd": file})
    with pytest.raises(BadInputError, match=re.escape(says)):
        profiles.load_profile("device", "odd")


def unexplained(text: str) -> list[str]:
    """The numbers of a profile that have no comment, or one that calls them an estimate and not how it
    was made, or a choice and not why it may be one."""
    found = []
    for comment, name in re.findall(r"^((?:  #.*\n)*)  (\w+): [0-9]", text, re.MULTILINE):
        said = " ".join(comment.replace("#", " ").split())
        bare = re.match(r"(estimate|assumed|chosen|guess)", said, re.IGNORECASE)
        if not said or (bare and not re.match(r"(estimate|chosen, no source): \S+ \S+", said)):
            found.append(name)
    return found


@pytest.mark.parametrize("name", sorted(set(axes.axes()["device"].files()) - {"own"}))
def test_each_number_says_where_it_is_from(name: str) -> None:
    profiles.load_profile("device", name)
    text = axes.axes()["device"].files()[name].read_text()
    assert unexplained(text) == []
    for comment in ("", "  # estimate\n", "  # assumed: 3 ms, as others\n", "  # chosen, no source: any\n"):
        assert unexplained(f"{text}{comment}  some_ns: 5\n") == ["some_ns"]


WHOLE = sorted(name for name, file in axes.axes()["device"].files().items() if "like" not in load_yaml(file))


@pytest.mark.parametrize("name", WHOLE)
def test_at_most_a_third_of_the_parameters_are_estimates(name: str) -> None:
    text, profile = axes.axes()["device"].files()[name].read_text(), profiles.load_profile("device", name)
    numbers = re.findall(r"^((?:  #.*\n)*)  (\w+): [0-9]", text, re.MULTILINE)
    parameters = {**profile["geometry"], **profile["timing"]}
    without = [each for comment, each in numbers if re.match("  # (estimate|chosen)", comment)]
    assert 3 * len(parameters.keys() & {*without}) <= len(parameters), without


def like(content: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the profile of a file that has `like`."""
    file = folder / "like.yml"
    file.write_text(content if content.startswith("geometry") else f"description: a test\n{content}")
    files = {**axes.axes()["device"].files(), "like": file}
    monkeypatch.setattr(axes.Axis, "files", lambda _: files)
    return profiles.load_profile.__wrapped__("device", "like")


def test_a_profile_like_another_has_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = profiles.load_profile("device", "emmc-5.0")
    made = like("like: emmc-5.0\ngeometry: {dies: 2}\nignores: [fua]\n", tmp_path, monkeypatch)
    geometry = {**whole["geometry"], "dies": 2}
    assert made == {**whole, "description": "a test", "geometry": geometry, "ignores": ["fua"]}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("like: like", "like.yml: like: 'like' is not a whole profile; there are constant, emmc-5.0"),
        ("like: galaxy-nexus-meta", "like: 'galaxy-nexus-meta' is not a whole profile"),
        ("like: [emmc-5.0]", "is not a whole profile"),
        ("like: emmc-5.0\ngeometry: {diez: 2}", "'diez' was unexpected"),
        ("like: emmc-5.0\ngeometry: 2", "geometry: 2 is not of type 'object'"),
        ("geometry: {dies: 2}\nlike: emmc-5.0", "like.yml: description: missing"),
    ],
)
def test_a_profile_like_none(
    content: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInputError, match=re.escape(says)):
        like(content, tmp_path, monkeypatch)


def test_what_the_model_refuses_is_refused_before_a_board_is_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = profiles.load_profile("device", "emmc-5.0")
    small = {**whole, "geometry": {**whole["geometry"], "cache_kib": 16}}
    monkeypatch.setattr(from_variables, "device_profile", lambda *_: small)
    says = r"^DEVICE=emmc-5.0: the flash model refuses .*: cache_kib is less than [^\n]*emmc-5.0.yml\)$"
    with pytest.raises(BadInputError, match=says):
        from_variables.make_cell({"DEVICE": "emmc-5.0"})
    # a new machine has no compiler until a command installs what it needs
    monkeypatch.setenv("PATH", "/nonexistent")
    assert from_variables.make_cell({"DEVICE": "emmc-5.0"}).device == "emmc-5.0"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"program_ns": 0, "program_kib_ns": 0},
            "program_ns: 0 is impossible, the nearest possible value is 1: ",
        ),
        ({"read_ns": 0}, "read_ns: 0 is impossible"),
        ({"bus_mb_s": 100000}, "bus_mb_s: 100000 is impossible, the nearest possible value is 32000: "),
        (
            {"flush_clean_ns": 900000000},
            "flush_clean_ns: 900000000 is impossible, the nearest .* is 633000: ",
        ),
        ({"slc_mib": 64, "slc_program_ns": 90000000}, "slc_program_ns: 90000000 is .* is 1456000: "),
        ({"slc_mib": 64}, "slc_program_ns: 0 is impossible, the nearest possible value is 1: "),
    ],
)
def test_a_device_that_contradicts_physics_is_refused(
    change: dict[str, int], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = profiles.load_profile("device", "emmc-5.0")
    parts = {
        part: {**whole[part], **{name: value for name, value in change.items() if name in whole[part]}}
        for part in ("geometry", "timing")
    }
    monkeypatch.setattr(from_variables, "device_profile", lambda *_: {**whole, **parts})
    with pytest.raises(BadInputError, match=rf"^DEVICE=emmc-5.0: {says}[^\n]*emmc-5.0.yml\)$"):
        from_variables.make_cell({"DEVICE": "emmc-5.0"})


@pytest.mark.parametrize("name", sorted(axes.axes()["device"].files()))
def test_a_shipped_device_is_possible(name: str) -> None:
    profile = profiles.load_profile("device", name)
    parameters = {**profile["geometry"], **profile["timing"]}
    assert devices.by_name(profile["driver"]).impossible(parameters) == {}


def test_a_device_without_fua_ignores_none(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = profiles.load_profile("device", "emmc-5.0")
    without = {**whole, "geometry": {**whole["geometry"], "fua": 0}, "ignores": ["fua"]}
    monkeypatch.setattr(from_variables, "device_profile", lambda *_: without)
    with pytest.raises(BadInputError, match="ignores fua, which it does not announce"):
        from_variables.make_cell({"DEVICE": "emmc-5.0", "CRASH": "power"})


def test_each_measure_is_computed_at_the_least_and_most_of_it() -> None:
    profile = profiles.load_profile("device", "emmc-5.0")
    for name in curves.CURVES:
        for at in (0,) if name == "read_beside_writes" else (1, 512) if name.endswith("size") else (1,):
            assert curves.of_source(profile, {"measure": name, "at": at, "unit": "us"}, 29000) > 0


def test_a_driver_is_whole() -> None:
    """Each has what a board does with it; a module of ours has the attributes that a profile gives it."""
    for name in devices.names():
        assert (ROOT / f"playbooks/devices/{name}.sh").is_file(), name
    for folder in (ROOT / "images/devices").iterdir():
        assert folder.name in devices.names()
        has = {path.name for path in folder.iterdir()}
        # a module of ours, or what one of the kernel's own needs
        assert {"Kbuild", "attributes.yml", "README.md"} <= has or has == {"options.yml"}


def test_a_driver_that_is_not_known() -> None:
    with pytest.raises(
        devices.UnknownDriverError, match="no device driver 'floppy'; expected flashsim, null_blk"
    ):
        devices.device_of(some_cell(profiles={"device": {"driver": "floppy"}}))
