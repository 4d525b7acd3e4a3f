"""Curves of a device profile: the host's library is the module's model, and its loops keep their depth."""

import random
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from base.errors import BadInputError
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from commitpath.charts import curve_figure
from commitpath.run import curves
from images import flash_model

ROOT = Path(__file__).resolve().parents[2]
DEVICES = ("microsd-class10", "emmc-5.0", "nvme-consumer")


def changed(device: str, **values: int) -> dict[str, Any]:
    """Return a profile with other parameters."""
    profile = load_profile("device", device)
    parts = {part: {**profile[part], **{k: v for k, v in values.items() if k in profile[part]}}
             for part in ("geometry", "timing")}  # fmt: skip
    return {**profile, **parts}


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model behind the text interface of tests/flash."""
    out = tmp_path_factory.mktemp("model") / "model"
    sources = [ROOT / "tests/flash/model_cli.c", *(flash_model.FOLDER / name for name in flash_model.SOURCES)]
    words = ["cc", "-std=gnu11", "-O1", f"-I{flash_model.FOLDER}", "-o", str(out), *map(str, sources)]
    subprocess.run(words, check=True)
    return out


@pytest.mark.parametrize("device", DEVICES)
def test_library_and_program_give_the_same_times(device: str, program: Path) -> None:
    profile, numbers, lines = load_profile("device", device), random.Random(3), []
    model, now, ends = flash_model.FlashModel(profile), 0, []
    for _ in range(3000):
        now += numbers.randrange(200000)
        sector, sectors = numbers.randrange(100000) * 8, numbers.choice((8, 16, 256, 1024))
        kind = numbers.choice("rrwwwffFd")
        lines.append(f"{kind} {now} {sector} {sectors}")
        ends.append(
            {"r": model.read, "w": model.write, "d": model.discard}[kind](now, sector, sectors)
            if kind in "rwd"
            else model.flush(now)
            if kind == "F"
            else model.write(now, sector, sectors, True)
        )
    given = {**profile["geometry"], **profile["timing"], "sectors": profile["size_mib"] * 2048}
    words = [str(program), *(f"{name}={value}" for name, value in given.items())]
    done = subprocess.run(words, input="\n".join(lines), capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split() if "=" not in line] == ends


def test_profile_that_the_model_refuses() -> None:
    with pytest.raises(BadInputError, match="refuses the profile: read_bytes or program_bytes"):
        flash_model.FlashModel(changed("emmc-5.0", read_bytes=16383))
    with pytest.raises(BadInputError, match="not a profile of flashsim: it has no block_bytes"):
        flash_model.FlashModel(load_profile("device", "constant"))


def test_command_beyond_the_device() -> None:
    model = flash_model.FlashModel({**load_profile("device", "emmc-5.0"), "size_mib": 1024})
    model.write(0, 2097144, 8)
    for command in (model.read, model.write, model.discard):
        with pytest.raises(BadInputError, match="sectors 2097152 to 2097160 are beyond the device's 2097152"):
            command(10**9, 2097152, 8)


def test_depth_fills_the_dies_and_no_more_than_the_queue() -> None:
    plain = changed("nvme-consumer", command_ns=0, dies=4, bus_mb_s=100000, read_ns=100000, queue_depth=64)
    alone, four, many = (curves.CURVES["read_depth"].compute(plain, depth, 0)["IOPS"] for depth in (1, 4, 64))
    assert alone == pytest.approx(1e9 / 100000, rel=0.01)
    assert 2 * alone < four < many < 4.01 * alone
    narrow = {**plain, "geometry": {**plain["geometry"], "queue_depth": 1}}
    assert curves.CURVES["read_depth"].compute(narrow, 64, 0)["IOPS"] == pytest.approx(alone, rel=0.01)


def test_host_time_is_one_cpus() -> None:
    profile = changed("nvme-consumer", command_ns=0, read_ns=0, bus_mb_s=100000)
    for depth in (1, 32):
        assert curves.CURVES["read_depth"].compute(profile, depth, 50000)["IOPS"] == pytest.approx(
            2e4, rel=0.01
        )


def test_open_units_fall_after_the_last_that_fits() -> None:
    curve = curves.CURVES["open_units"]
    speeds = [curve.compute(load_profile("device", "microsd-class10"), n, 0)["MB/s"] for n in (1, 2, 3)]
    assert speeds[0] == pytest.approx(speeds[1], rel=0.02)
    assert speeds[2] < 0.7 * speeds[1]


def test_a_flush_takes_longer_after_more() -> None:
    profile = changed("emmc-5.0", flush_dirty_kib_ns=1000)
    # the host is slower than the flash, so that no more is left to program after more writes
    some, more = (curves.CURVES["flush_dirty"].compute(profile, kib, 100000)["us"] for kib in (256, 1024))
    assert more - some == pytest.approx(768, rel=0.02)


def test_no_flush_curve_without_a_cache() -> None:
    points = {"microsd-class10": False, "emmc-5.0": True}
    for device, there in points.items():
        curve = curves.CURVES["flush_dirty"]
        assert bool(load_profile("device", device)["geometry"][curve.needs]) is there


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ({"measure": "read_random_4k_qd8"}, ("read_depth", 8)),
        ({"measure": "open_units", "at": 3}, ("open_units", 3)),
        ({"measure": "write_fdatasync_4k"}, None),
    ],
)
def test_place_of_a_source(source: Mapping[str, Any], place: tuple[str, float] | None) -> None:
    assert curve_figure.curve_of(source) == place


def test_sources_are_drawn_in_the_curves_unit() -> None:
    sources = [
        {"measure": "read_random_4k_qd8", "value": 8000, "unit": "IOPS"},
        {"measure": "open_units", "at": 3, "value": 0.912, "unit": "MB/s"},
    ]
    assert curve_figure.published({"sources": sources}, "read_depth") == [(8, 1000)]
    [(number, speed)] = curve_figure.published({"sources": sources}, "open_units")
    assert (number, round(speed, 9)) == (3, 0.912)
    sized = [{"measure": "write_size", "at": 512, "value": 100, "unit": "IOPS"}]
    [(kib, speed)] = curve_figure.published({"sources": sized}, "write_size")
    assert (kib, round(speed, 9)) == (512, 52.4288)


FRESH = "DEVICE_STATE=used: the sources are of a fresh device"
HOST = "fitted to its sources with HOST_NS=0; here a command takes the host 29000 ns"


@pytest.mark.parametrize(
    ("device", "state", "host_ns", "notes"),
    [
        ("emmc-5.0", "fresh", curves.HOST_NS, []),
        ("emmc-5.0", "used", curves.HOST_NS, [FRESH]),
        ("nvme-plp", "fresh", 0, []),
        ("nvme-plp", "used", curves.HOST_NS, [FRESH, HOST]),
    ],
)
def test_what_the_sources_are_unlike_is_noted(
    device: str, state: str, host_ns: int, notes: list[str]
) -> None:
    cell = make_cell({"DEVICE": device, "DEVICE_STATE": state, "ROWS": "0"})
    assert curves.source_notes(cell, host_ns) == notes
    assert curves.host_time(None, curves.fitted_host_time(device)) == (0 if device == "nvme-plp" else 29000)


@pytest.mark.parametrize("text", ["x", "-1", "1000001"])
def test_bad_host_time(text: str) -> None:
    with pytest.raises(BadInputError, match=f"HOST_NS={text}: HOST_NS is 0 to 1000000 ns"):
        curves.host_time(text)
