"""`make profile`: a measurement file, structure and fit of measurements that the model made, refusals."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from base.errors import BadInputError, LabError
from commitpath.cells import profiles
from commitpath.cells.axes import Axis
from commitpath.fitting import (
    device_fit,
    intervals,
    joint_fit,
    measurement,
    prediction,
    profile_text,
    structure,
)
from commitpath.fitting.candidate import DEVICE, HOST_KIB, PLAIN, TIMES, Candidate, Medians, of_facts
from commitpath.fitting.experiment_lists import KIB, MIB, SPAN, Facts, lists, written_bytes
from commitpath.fitting.held_out import sequences
from commitpath.fitting.joint_fit import deviation, divided
from commitpath.run import curves, device_measurement, profile
from images import cellrun
from images.flash_model import FlashModel, parameter_names

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
import hidden  # noqa: E402
import recorded_cells  # noqa: E402

UNITS = Candidate(
    {
        "dies": 2, "read_bytes": 16 * KIB, "program_bytes": 16 * KIB, "command_ns": 100000, "bus_mb_s": 80,
        "read_ns": 80000, "program_ns": 900000, "open_units": 3, "unit_kib": 2048, "log_kib": 512,
        "merge_ns": 9000000, "merge_spread_ns": 3000000, "erase_ns": 2000000, "discard": 1,
        "discard_ns": 300000,
    },
    1 * MIB,
)  # fmt: skip


def measured(device: Candidate, *experiments: str) -> measurement.Measurement:
    """A measurement by the model, of some experiments."""
    made = hidden.measured(device, hidden.Draw(5))
    return made.chosen(made.among(*experiments)) if experiments else made


def test_parameters_are_those_of_the_model() -> None:
    assert {*PLAIN, *TIMES} == set(parameter_names())


@pytest.mark.parametrize("cache", [(False, False), (True, False), (True, True)])
def test_each_command_is_within_the_span(cache: tuple[bool, bool]) -> None:
    facts = Facts(SPAN, 512, *cache, True, 29000)
    made = {**lists(facts), **sequences(facts)}
    rows = [row for some in made.values() for row in some]
    assert all(row.offset >= 0 and row.offset + row.size <= SPAN and row.offset % 512 == 0 for row in rows)
    assert {row.op for row in rows} == {"r", "w", "d", *("f" * cache[1]), *("F" * cache[0])}
    assert written_bytes(rows) < 400 * MIB


def test_a_file_holds_a_measurement(tmp_path: Path) -> None:
    made = measured(UNITS)
    measurement.save(tmp_path / "measurement.json", made)
    read = measurement.load(tmp_path / "measurement.json")
    assert read.facts == made.facts and (read.latency_ns == made.latency_ns).all()
    assert (read.cells == made.cells).all() and (read.gap_ns == made.gap_ns).all()


FACTS = {
    "size_bytes": SPAN,
    "block_bytes": 512,
    "write_cache": False,
    "fua": False,
    "discard": True,
    "host_ns": 0,
}
ROW = ["log", "4k", "w", 0, 4096, False, 0, 1000]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "version: 1 was expected"),
        ({"facts": {**FACTS, "size_bytes": 1 << 20}}, "1048576 is less than the minimum of 1073741824"),
        ({"facts": {**FACTS, "speed": 1}}, "Additional properties are not allowed"),
        ({"commands": []}, "commands: a list with a row for each command is needed"),
        ({"commands": [ROW, [*ROW[:2], "x", *ROW[3:]]]}, r"commands\.1: .* is not \[experiment, cell, op"),
        ({"commands": [[*ROW[:7], 0]]}, r"commands\.0: "),
        ({"commands": [[*ROW[:3], SPAN, *ROW[4:]]]}, r"commands\.0: beyond the device's 1073741824 bytes"),
        ({"commands": [[*ROW[:7], 2**63]]}, r"commands\.0: "),
        ({"commands": [ROW]}, "commands: 0 of 2 of the experiment 'sustained', '' with op r and 4096"),
    ],
)
def test_a_file_that_is_no_measurement(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = tmp_path / "measurement.json"
    path.write_text(json.dumps({"version": 1, "facts": FACTS, "commands": [ROW], **change}))
    with pytest.raises(BadInputError, match=says):
        measurement.load(path)
    for text in ("{", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(BadInputError, match="not JSON"):
            measurement.load(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(BadInputError, match="not a file"):
        measurement.load(path)


def test_times_of_other_commands_are_refused() -> None:
    with pytest.raises(BadInputError, match="the measurement has 2 commands, not the"):
        measurement.recorded(Facts(**FACTS), [0, 5], [1, 1])


@pytest.mark.parametrize("drop", [slice(0, 1), slice(700, None), slice(3, None, 2)])
def test_a_measurement_of_which_a_part_is_missing(drop: slice, tmp_path: Path) -> None:
    path = tmp_path / "measurement.json"
    measurement.save(path, measured(UNITS))
    document = json.loads(path.read_text())
    del document["commands"][drop]
    path.write_text(json.dumps(document))
    with pytest.raises(BadInputError, match=r"commands: [0-9]+ of [0-9]+ of the experiment '[^\n]*$"):
        measurement.load(path)


def test_reads_of_the_same_time_show_no_page() -> None:
    made = measured(UNITS, "read pages")
    found = structure.pages(replace(made, latency_ns=np.full(len(made.rows), 90000)), Candidate())
    assert not found.is_there and found.gain == 0


@pytest.mark.parametrize("dies", [17, 40])
def test_many_dies_are_not_taken_for_fewer(dies: int) -> None:
    found = structure.pages(measured(UNITS.changed(dies=dies), "read pages"), Candidate())
    assert (found.best.value("read_bytes"), found.best.value("dies")) == (16 * KIB, dies)


def test_more_open_units_than_places_are_not_decided() -> None:
    device = UNITS.changed(open_units=20, log_kib=0)
    made = measured(device, "far and near", "march", "open units")
    known = of_facts(made.facts).changed(unit_kib=2048, phase=1 * MIB)
    found = structure.open_units(made, known)
    alike = {found.best.value("open_units"), *(one.value("open_units") for one in found.alike)}
    assert 20 in alike and min(alike) > 16


def test_the_largest_value_that_is_tried_is_not_decided() -> None:
    facts = Facts(SPAN, 512, True, False, False, 29000)
    large = CACHED.changed(cache_kib=8192)
    result = device_fit.Result(large, {}, {"dies": tuple(range(3, 9)), "program_bytes": (8192,)}, 0.5, 0.04)
    assert {*profile_text.unidentified(result)} == {"cache_kib", "dies", "program_bytes"}
    says = {
        "cache_kib": "not decided by the measurement: 8192 or more fit as well",
        "dies": "not decided by the measurement: 7 values from 2 to 8 fit as well",
        "program_bytes": "not decided by the measurement: 8192 or 16384 fit as well",
        "slc_mib": "measured: none was found of 16 MiB or more in 256 MiB of writes",
    }
    assert {name: profile_text.origin(name, result, facts) for name in says} == says


def test_page_and_dies() -> None:
    found = structure.pages(measured(UNITS, "read pages"), Candidate())
    assert (found.best.value("read_bytes"), found.best.value("dies")) == (16 * KIB, 2) and not found.alike


def test_units_are_found_behind_a_log() -> None:
    made = measured(UNITS, "full log", "far and near", "march", "open units")
    log = structure.log(made, of_facts(made.facts))
    assert log.hits > structure.LEAST_HITS
    assert log.best.value("log_kib") == 512 and log.best.value("pad_bytes") == 4 * KIB
    known = of_facts(made.facts).changed(log_kib=512)
    units = structure.units(made, known)
    assert units.is_there and units.best.value("unit_kib") == 2048 and units.best.phase == 1 * MIB
    found = structure.open_units(made, known.changed(unit_kib=2048, phase=1 * MIB))
    assert found.best.value("open_units") == 3


@pytest.mark.parametrize(("log_kib", "pad_kib"), [(0, 0), (2048, 0), (256, 32)])
def test_a_log_is_found_by_few_merges_too(log_kib: int, pad_kib: int) -> None:
    """2 MiB are full after 512 writes of 4 KiB; without a log only the host's interruptions are slow."""
    device = UNITS.changed(log_kib=log_kib, pad_bytes=pad_kib * KIB, program_bytes=32 * KIB)
    made = measured(device, "full log")
    log = structure.log(made, of_facts(made.facts))
    assert (log.hits > structure.LEAST_HITS) == (log_kib > 0)
    if log_kib:
        assert log.best.value("log_kib") == log_kib and log.best.value("pad_bytes") == max(4, pad_kib) * KIB


def test_two_interruptions_are_no_log() -> None:
    """Of 300 writes of 64 KiB, with a FLUSH after each: a log that was full twice is not distinguished."""
    device = UNITS.changed(log_kib=0, write_cache=1, flush_clean_ns=50000)
    made = measured(device, "full log")
    writes = np.flatnonzero([row.op == "w" for row in made.rows])
    latency = np.full(len(made.rows), 1_000_000)
    latency[writes[[100, 200]]] = 20_000_000
    log = structure.log(replace(made, latency_ns=latency), of_facts(made.facts))
    assert log.hits <= structure.LEAST_HITS


def test_a_map_cache_is_found_where_its_reads_are_short() -> None:
    device = Candidate({"command_ns": 200000, "bus_mb_s": 20, "read_ns": 45000, "map_kib": 64})
    made = measured(device, "sustained", "map reads", "read pages")
    found = structure.map_cache(made, of_facts(made.facts).changed(read_bytes=4 * KIB))
    assert found.best.value("map_kib") in (64, *[one.value("map_kib") for one in found.alike])
    assert found.gain > structure.LEAST_GAIN and found.ratio > structure.LEAST_MAP_RATIO


CACHED = Candidate(
    {
        "write_cache": 1, "cache_kib": 1024, "cache_reorder": 1, "program_bytes": 16 * KIB, "dies": 2,
        "command_ns": 50000, "bus_mb_s": 40, "read_ns": 80000, "program_ns": 600000, "flush_clean_ns": 50000,
        "flush_dirty_ns": 100000, "discard": 1, "discard_ns": 100000,
    }
)  # fmt: skip


@pytest.mark.parametrize("wrong", [{"cache_kib": 512}, {"program_bytes": 8 * KIB}, {"cache_reorder": 0}])
def test_the_search_leaves_a_wrong_cache_or_program_unit(wrong: dict[str, int]) -> None:
    """The bus is slower than the flash, so no write waits: only a FLUSH shows the cache."""
    made = measured(CACHED, "flushes")
    posed = joint_fit.problem(made, divided(made, np.zeros(len(made.rows), int)))
    start = posed.solve(CACHED.changed(**wrong), ["program_ns", "flush_dirty_ns"], 4)
    best, _ = device_fit.descend(posed, start)
    assert {name: best.candidate.value(name) for name in wrong} == {
        name: CACHED.value(name) for name in wrong
    }


def test_the_time_per_kib_is_seen_in_a_flush() -> None:
    """Behind a cache without FUA no write waits for its program."""
    made = measured(CACHED.changed(program_kib_ns=30000), "flushes")
    each = device_fit.within_unit(CACHED, 16, True, Medians(made))
    assert each == pytest.approx(30000, rel=0.2)


def test_one_merge_counts_as_uncertain_as_merges_are() -> None:
    made = measured(UNITS, "far and near", "merges")
    latency = made.latency_ns.astype(float)
    cells = divided(made, device_fit.events(made, UNITS))
    single = cells.merged & (cells.count == 1)
    assert single.any() and (cells.sigmas(latency)[single] > 1.5 * cells.jitter(latency)).all()


def test_a_cache_is_no_unit() -> None:
    """It drains after every so many writes, at no period in addresses."""
    cache = Candidate({"write_cache": 1, "cache_kib": 256, "program_bytes": 32 * KIB, "command_ns": 50000,
                       "bus_mb_s": 300, "program_ns": 1500000, "discard": 1})  # fmt: skip
    made = measured(cache, "far and near", "march")
    assert not structure.units(made, of_facts(made.facts)).is_there


FLAT = UNITS.changed(open_units=0, log_kib=0)


def posed_by(device: Candidate, *experiments: str) -> joint_fit.Problem:
    """A problem of a device's measurement."""
    made = measured(device, *experiments)
    return joint_fit.problem(made, divided(made, np.zeros(len(made.rows), int)))


def test_a_fit_finds_a_wrong_parameter() -> None:
    posed, wrong = (
        posed_by(FLAT, "read sizes", "far and near", "write sizes"),
        FLAT.changed(program_ns=400000),
    )
    assert (
        posed.solve(FLAT, ["command_ns"], 3).cost_of_a_cell
        < 1
        < posed.solve(wrong, ["command_ns"], 3).cost_of_a_cell
    )
    found = posed.solve(wrong, ["command_ns", "program_ns"], 8)
    assert found.candidate.value("program_ns") == pytest.approx(900000, rel=0.03)
    low, high = intervals.of_fit(posed, found, ["command_ns", "program_ns"])["program_ns"]
    assert low < 900000 < high < 1.1 * low


def test_a_median_deviation_of_few_values_is_corrected() -> None:
    draws = np.exp(0.05 * np.random.default_rng(1).standard_normal((4000, 8)))
    assert np.mean([deviation(values) for values in draws]) == pytest.approx(0.05, rel=0.03)


def test_an_interval_reaches_to_the_minimum() -> None:
    """A fit that ended before it has the minimum in its interval."""
    posed, names = posed_by(FLAT, "read sizes", "write sizes"), ["command_ns", "program_ns"]
    early = joint_fit.Fit(FLAT.changed(program_ns=700000), 100.0, len(posed.cells.names))
    low, high = intervals.of_fit(posed, early, names)["program_ns"]
    assert low < 700000 and high > 900000


def test_a_fit_with_a_slow_bus_ends_at_the_minimum() -> None:
    """The bus is a whole number, 4 % of itself here: the other times are fitted with it, not beyond it."""
    device, names = FLAT.changed(bus_mb_s=25), ["command_ns", "bus_mb_s", "read_ns", "program_ns"]
    posed = posed_by(device, "read sizes", "far and near", "write sizes")
    found = posed.solve(device.changed(bus_mb_s=30, program_ns=500000), names, 24)
    others = [name for name in names if name != "bus_mb_s"]
    again = posed.steps(found.candidate, others, 24)
    assert again.cost > found.cost - 0.1
    assert found.candidate.value("program_ns") == pytest.approx(900000, rel=0.03)


def test_a_misfit_and_the_hosts_time_make_intervals_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    posed, names = posed_by(FLAT, "read sizes"), ["command_ns", "bus_mb_s", "read_ns"]

    def width(name: str, cost: float) -> float:
        found = intervals.of_fit(posed, joint_fit.Fit(FLAT, cost, len(posed.cells.names)), names)
        return found[name][1] - found[name][0]

    good = 0.5 * len(posed.cells.names)
    assert width("read_ns", 4 * good) > 1.8 * width("read_ns", good) > 0
    with_host = {name: width(name, good) for name in names}
    monkeypatch.setattr(intervals, "host_errors", lambda _: [])
    assert with_host["command_ns"] > width("command_ns", good)
    assert with_host["bus_mb_s"] >= width("bus_mb_s", good)


def test_a_host_that_copies_is_not_taken_for_a_slow_bus() -> None:
    """Where pages are sensed for longer than the bus takes, the host's time for each KiB is beyond both."""
    device = FLAT.changed(dies=1, read_bytes=4 * KIB, bus_mb_s=200)
    made = measured(device, "read sizes")
    made = replace(made, latency_ns=(made.latency_ns + made.data_bytes * 385 / KIB).astype(int))
    posed = joint_fit.problem(made, divided(made, np.zeros(len(made.rows), int)))
    names = [HOST_KIB, "command_ns", "bus_mb_s", "read_ns"]
    found = posed.solve(device.changed(**{HOST_KIB: joint_fit.HOST_KIB_MEAN}), names, 24)
    low, high = intervals.of_fit(posed, found, names)["bus_mb_s"]
    assert low <= 200 <= high
    without = posed.solve(device, names[1:], 24)
    assert found.cost < without.cost


def test_an_interval_covers_those_of_other_structures() -> None:
    several = [{"program_ns": (3.0, 4.0), "fua_ns": (1.0, 2.0)}, {"program_ns": (8.0, 9.0)}]
    assert intervals.covering(several, ["program_ns", "fua_ns"]) == {
        "program_ns": (3.0, 9.0),
        "fua_ns": (1.0, 2.0),
    }


def test_what_is_fitted_is_possible() -> None:
    """A FLUSH without data that takes longer than one with some, and programs that take none."""
    device = CACHED.changed(flush_clean_ns=5_000_000, flush_dirty_ns=0, program_ns=0, slc_mib=16)
    posed = posed_by(device, "read sizes", "flushes")
    assert {*DEVICE.impossible({**PLAIN, **TIMES, **device.values})} == {
        "program_ns", "slc_program_ns", "flush_clean_ns"
    }  # fmt: skip
    found = posed.solve(device, ["flush_clean_ns", "flush_dirty_ns", "program_ns"], 3).candidate
    assert DEVICE.impossible({**PLAIN, **TIMES, **found.values}) == {}


def test_a_parameter_without_effect_has_no_number() -> None:
    posed = posed_by(FLAT, "read sizes")
    found = posed.solve(FLAT, ["read_ns", "program_ns"], 5)
    bounds = intervals.of_fit(posed, found, ["read_ns", "program_ns"])
    result = device_fit.Result(found.candidate, bounds, {"cache_kib": (64,)}, 0.5, 0.05)
    assert set(profile_text.unidentified(result)) == {"program_ns", "cache_kib"}
    assert "not decided by the measurement: 0 to " in profile_text.origin(
        "program_ns", result, posed.measurement.facts
    )


def test_prediction_of_the_device_itself_and_of_another() -> None:
    made = measured(UNITS)
    right, wrong = (prediction.predict(made, UNITS.changed(open_units=number)) for number in (3, 9))
    assert max(abs(one.error) for one in right.sequences) < 0.05
    assert 0.0001 < right.interrupted < 0.003 and 2e6 < right.interruption_ns < 20e6
    assert max(abs(one.error) for one in wrong.sequences) > 0.2


def test_tps_of_recorded_cells() -> None:
    """Commands change with what the kernel reports; a slower device and the host's time make fewer TPS."""
    cells = recorded_cells.cells()
    assert len(cells) == 6 and {cell.transactions for cell in cells.values()} == {24}
    facts = Facts(SPAN, 512, True, True, True, 29000)
    for cell in cells.values():
        with_fua = [row.op for row in cell.rows(facts)]
        without = [row.op for row in cell.rows(replace(facts, fua=False))]
        bare = [row.op for row in cell.rows(replace(facts, fua=False, write_cache=False))]
        assert "f" in with_fua and without.count("F") == with_fua.count("F") + with_fua.count("f")
        assert not {"f", "F"} & {*bare} and bare.count("w") == without.count("w")
        slow, fast = (cell.tps(UNITS.changed(program_ns=ns), facts) for ns in (900000, 90000))
        assert slow < fast < cell.transactions * 1e9 / sum(cell.idle_ns)


def test_written_profile_is_one(tmp_path: Path) -> None:
    made = measured(UNITS)
    result = device_fit.Result(UNITS, {"command_ns": (90000.0, 110000.0)}, {}, 0.5, 0.04)
    assert profile.write(tmp_path / "mine.yml", "BOARD=pi", made, result, {}) == [tmp_path / "mine.yml"]
    content = yaml.safe_load((tmp_path / "mine.yml").read_text())
    assert {**content["geometry"], **content["timing"]} == {
        name: UNITS.value(name) for name in (*PLAIN, *TIMES)
    }
    assert {source["measure"] for source in content["sources"]} >= {
        "write_random_4k_qd1",
        "write_fdatasync_4k",
    }
    assert "endurance" not in content


def test_a_page_mapped_fit_can_be_used_and_have_years(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no measurement has is assumed, and named: else DEVICE_STATE=used has no garbage to collect."""
    made, path = measured(CACHED), tmp_path / "mine.yml"
    result = device_fit.Result(CACHED, {}, {}, 0.5, 0.04)
    profile.write(path, "BOARD=pi", made, result, {})
    text = path.read_text()
    for name, value in {"queue_depth": 1, "gc_blocks": 8, "erase_ns": 3000000}.items():
        assert re.search(f"  # not measured, assumed: [^:]*\n  {name}: {value}\n", text)
    assert "not measured, assumed: queue_depth 1, gc_blocks 8, erase_ns 3000000" in profile.parameter_lines(
        result, None
    )
    monkeypatch.setattr(Axis, "files", lambda _: {"mine": path})
    own = yaml.safe_load(text)
    used = {"geometry": {**own["geometry"], "fill_permille": 900, "overwrite_permille": 3000}}
    FlashModel({**own, **used, "size_mib": SPAN // MIB})
    filled = text.replace("# endurance:", "endurance:").replace("#   gb:", "  gb: 64")
    path.write_text(filled.replace("#   cycles:", "  cycles: 3000"))
    assert profiles.load_profile.__wrapped__("device", "mine")["endurance"] == {"gb": 64, "cycles": 3000}


def test_a_source_is_read_over_the_range_of_its_curve() -> None:
    """Where the controller holds a part of the map, reads over 4 MiB are shorter than over 100."""
    device = Candidate(
        {"command_ns": 100000, "bus_mb_s": 100, "read_ns": 100000, "program_ns": 300000, "map_kib": 32}
    )
    reads, *_ = prediction.sources(measured(device))
    assert reads.measure == "read_random_4k_qd1"
    ours = curves.of_measure(device.profile(SPAN), reads.measure, 29000)[reads.unit]
    assert ours == pytest.approx(reads.value, rel=0.06)


def test_other_fits_are_profiles_that_are_like_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two devices that cost no more, the one that predicts the held-out sequences worse is left out."""
    made = measured(CACHED)
    measurement.save(tmp_path / "measurement.json", made)
    (tmp_path / "device").mkdir()
    monkeypatch.setattr(profile, "EXPERIMENTS", tmp_path)
    others = {
        ("read_bytes", 8192): CACHED.changed(read_bytes=8192, flush_dirty_ns=95000),
        ("cache_kib", 768): CACHED.changed(cache_kib=768),
    }
    result = device_fit.Result(CACHED, {}, {"read_bytes": (8192,), "cache_kib": (768,)}, 0.5, 0.04, others)
    monkeypatch.setattr(profile.device_fit, "fit", lambda _: result)
    profile.profile({"NAME": "mine", "FILE": f"{tmp_path}/measurement.json"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith("other fits that are as good there; ") and len(lines[-2]) <= 80
    assert lines[-1].startswith("  mine-read-bytes-8192: errors ")
    files = {path.stem: path for path in (tmp_path / "device").iterdir()}
    assert sorted(files) == ["mine", "mine-read-bytes-8192"]
    written = yaml.safe_load(files["mine-read-bytes-8192"].read_text())
    assert written["description"] == "mine with read_bytes 8192 in place of 4096, which fits as well"
    assert (written["geometry"], written["timing"]) == ({"read_bytes": 8192}, {"flush_dirty_ns": 95000})
    monkeypatch.setattr(Axis, "files", lambda _: files)
    assert profiles.load_profile.__wrapped__("device", "mine-read-bytes-8192")["geometry"]["dies"] == 2
    assert profiles.other_fits("mine") == ["mine-read-bytes-8192"]
    # what is left of a removed profile is not taken for another fit of the next one
    del files["mine"]
    with pytest.raises(BadInputError, match=r"NAME=mine: .*mine-read-bytes-8192\.yml exists; remove it"):
        profile.profile({"NAME": "mine", "FILE": f"{tmp_path}/measurement.json"})


def test_no_other_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "device").mkdir()
    monkeypatch.setattr(profile, "EXPERIMENTS", tmp_path)
    made = measured(UNITS)
    monkeypatch.setattr(profile.measurement, "load", lambda _: made)
    monkeypatch.setattr(profile.device_fit, "fit", lambda _: device_fit.Result(UNITS, {}, {}, 0.5, 0.04))
    profile.profile({"NAME": "mine", "FILE": "x"})
    assert capsys.readouterr().out.splitlines()[-1] == "  none"


def test_the_ends_of_what_is_not_decided() -> None:
    """Without a FLUSH nothing shows a cache behind a slow bus; reads show the dies; no map is so small."""
    device = CACHED.changed(bus_mb_s=20)
    made = measured(device, "sustained", "read pages")
    posed = joint_fit.problem(made, divided(made, np.zeros(len(made.rows), int)))
    best = joint_fit.Fit(device, posed.cost(device), len(posed.cells.names))
    alike = {"cache_kib": (256, 512, 2048), "dies": (1,), "map_kib": (2,)}
    found = device_fit.other_fits(posed, best, alike, [], best.cost + 2)
    assert [*found] == [("cache_kib", 256), ("cache_kib", 2048)]
    assert [one.value("cache_kib") for one in found.values()] == [256, 2048]


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "NAME=: a name of small letters"),
        ({"NAME": "../x"}, r"NAME=\.\./x: a name of small letters"),
        ({"NAME": "emmc-5.0"}, r"NAME=emmc-5.0: .*emmc-5\.0\.yml exists"),
        ({"NAME": "nvme"}, r"NAME=nvme: .*nvme-consumer\.yml exists; remove it, or give another name"),
        ({"NAME": "mine"}, "takes BOARD=<a board> to measure, or FILE="),
        ({"NAME": "mine", "BOARD": "pi", "FILE": "x"}, "takes BOARD=<a board> to measure, or FILE="),
        ({"NAME": "mine", "FILE": "none.json"}, "FILE=none.json: No such file"),
        ({"NAME": "mine", "FILE": "x", "DEVICE": "emmc-5.0"}, "BOARD=virtual needs DEVICE=<a profile>"),
        ({"NAME": "mine", "BOARD": "virtual"}, "BOARD=virtual needs DEVICE=<a profile>; any other board has"),
        (
            {"NAME": "mine", "BOARD": "virtual", "DEVICE": "emmc-5.0", "HOST_NS": "x"},
            "HOST_NS=x: HOST_NS is 0 to 1000000 ns",
        ),
    ],
)
def test_bad_call(variables: dict[str, str], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        profile.profile(variables)


def test_a_partition_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        profile.ansible, "board", lambda _: {"board_kind": "lab", "board_device_bytes": 1 << 29}
    )
    with pytest.raises(BadInputError, match="its partition has 512 MiB, at least 1024 MiB are needed"):
        profile.profile({"NAME": "mine", "BOARD": "pi"})


@pytest.mark.parametrize(
    ("jitter", "interrupted", "says"),
    [
        (0.4, 0.0, "x is too noisy: commands of one kind differ by 40%, at most 25% can be fitted"),
        (
            0.02,
            0.117,
            "x: 117 of 1000 reads end over 1 ms later than the fit predicts, at most 10 may: other work",
        ),
    ],
)
def test_a_board_that_is_too_noisy(
    jitter: float, interrupted: float, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = device_fit.Result(UNITS, {}, {}, 0.5, jitter)
    late = prediction.Prediction((), interrupted, 3e6)
    monkeypatch.setattr(profile.measurement, "load", lambda _: None)
    monkeypatch.setattr(profile.device_fit, "fit", lambda _: noisy)
    monkeypatch.setattr(profile.prediction, "predict", lambda *_: late)
    with pytest.raises(LabError, match=says):
        profile.profile({"NAME": "mine", "FILE": "x"})
    assert not (ROOT / "experiments/device/mine.yml").exists()


def test_what_is_written_is_said_beforehand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profile.ansible, "board", lambda _: {"board_kind": "lab", "board_device_bytes": SPAN})

    def unreachable(*_: object) -> None:
        raise LabError("unreachable")

    monkeypatch.setattr(profile.device_measurement, "measure", unreachable)
    with pytest.raises(LabError, match="unreachable"):
        profile.profile({"NAME": "mine", "BOARD": "pi"})
    assert capsys.readouterr().out == (
        "up to 16213 commands follow, with up to 397 MiB of writes; all that the partition holds is lost\n"
    )


OF_A_DEVICE = (
    "size_bytes=2147483648\nlogical_block_size=512\nwrite_cache=write back\nfua=1\ndiscard_max_bytes=0\n"
)


def test_facts_of_a_device() -> None:
    assert device_measurement.facts_of(OF_A_DEVICE, 7) == Facts(2 << 30, 512, True, True, False, 7)
    with pytest.raises(BadInputError, match="the device has 16 MiB, at least 1024 MiB are needed"):
        device_measurement.facts_of(OF_A_DEVICE.replace("2147483648", "16777216"), 7)


def answer(**files: str) -> cellrun.RunOutput:
    """What a board sends: a tar of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in {"run-cell.status": "0\n", "run-cell.log": "why\n", **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content.encode()))
    return cellrun.RunOutput(packed.getvalue())


def test_a_board_sends_the_times_of_what_it_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "latencies").write_bytes(b"program")
    monkeypatch.setattr(device_measurement.programs, "latencies", lambda static: tmp_path / "latencies")
    sent = []

    def send(files: Mapping[str, bytes]) -> cellrun.RunOutput:
        facts = OF_A_DEVICE.replace("write back", "write through").replace("fua=1", "fua=0")
        if not files:
            return answer(**{"raw/facts": facts})
        sent.extend(gzip.decompress(files["commands.gz"]).decode().splitlines())
        times = "".join(f"{1000 * number} {10 + number}\n" for number in range(len(sent)))
        return answer(**{"raw/facts": facts, "raw/latencies.txt": times})

    made = device_measurement.measured(send, 7, static=True)
    assert [line.split()[0] for line in sent] == [row.op for row in made.rows]
    assert (made.latency_ns[:3] == [10, 11, 12]).all() and (made.gap_ns[:3] == [0, 990, 989]).all()
    with pytest.raises(LabError, match="the device could not be measured: why"):
        device_measurement.measured(lambda _: answer(**{"run-cell.status": "1\n"}), 7, static=True)
    with pytest.raises(LabError, match="the board's conditions were not recorded"):
        device_measurement.measured(send, 7, static=True, limits={})


QUIET = {
    "time_ns": "0", "boot_id": "one", "clocksource": "arch_sys_counter", "mounts": "",
    "throttle/get_throttled": "0x0", "throttle/cooling_device0/cur_state": "0",
    "temperature/thermal_zone0 cpu-thermal": "51121", "pressure/others/system.slice": "0",
    **{f"{whose}/{op}_{what}": "0" for whose in ("disk", "partition")
       for op in ("read", "write", "discard") for what in ("ios", "sectors")},
}  # fmt: skip
AFTER = {
    **QUIET,
    "time_ns": "1000000000",
    **{f"{whose}/write_{what}": "1000" for whose in ("disk", "partition") for what in ("ios", "sectors")},
}


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ({}, ""),
        ({"throttle/get_throttled": "0x40000"}, "its CPU was throttled: throttle/get_throttled changed from"),
        ({"temperature/thermal_zone0 cpu-thermal": "85000"}, "celsius is 85, limit 80"),
        ({"time_ns": "-1"}, "covariates.json: time_ns is not later than at the begin"),
        ({"time_ns": 5}, "covariates.json: not an object with begin, end, board, each an object of texts"),
    ],
)
def test_the_conditions_of_a_measurement(end: dict[str, Any], says: str) -> None:
    readings = json.dumps({"begin": QUIET, "end": {**AFTER, **end}, "board": {}})
    sent = answer(**{"raw/board/covariates.json": readings})
    limits = profile.ansible.limits("pi", {})
    if not says:
        device_measurement.check_conditions(sent, limits)
        return
    with pytest.raises(LabError, match=f"the measurement does not count: {says}"):
        device_measurement.check_conditions(sent, limits)


def test_a_fit_holds_with_as_many_interruptions_as_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "INTERRUPTED", profile.MOST_INTERRUPTED)
    _, device, draw = hidden.drawn(107)
    made = hidden.measured(device, draw)
    fitted = device_fit.fit(made).candidate
    share = prediction.predict(made, fitted).interrupted
    assert 0.7 * profile.MOST_INTERRUPTED < share <= profile.MOST_INTERRUPTED
    for rows in sequences(made.facts).values():
        truth = hidden.time_of(device, made.facts, rows)
        assert hidden.time_of(fitted, made.facts, rows) == pytest.approx(truth, rel=0.05)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The measuring program, for this host."""
    out = tmp_path_factory.mktemp("latencies") / "latencies"
    folder = ROOT / "workloads/latencies"
    subprocess.run(["make", "-s", "-C", str(folder), f"OUT={out}", "CC=cc"], check=True)
    return out


def test_the_program_times_each_command(program: Path, tmp_path: Path) -> None:
    # a file stands for the device; O_DIRECT needs a filesystem that has it
    image = tmp_path / "image"
    image.write_bytes(bytes(1 << 20))
    commands = "r 0 4096 0\nw 4096 4096 3000000\nf 8192 8192 0\nF 0 0 0\n"
    done = subprocess.run([program, image], input=commands, capture_output=True, text=True, check=True)
    times = np.array([line.split() for line in done.stdout.splitlines()], np.int64)
    assert times.shape == (4, 2) and (times[:, 1] > 0).all()
    gaps = np.diff(times[:, 0]) - times[:-1, 1]
    assert (gaps >= 0).all() and gaps[0] >= 3000000
    content = image.read_bytes()
    assert content[:4096] == bytes(4096) and content[4096:8192] != bytes(4096)


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        ("", "there are no commands"),
        ("r 0 4096\n", "line 1 is not OP OFFSET BYTES IDLE_NS"),
        ("r 0 4096 0\nx 0 4096 0\n", "line 2 is not OP OFFSET BYTES IDLE_NS"),
        ("w 0 0 0\n", "line 1: 0 bytes are not 1 to 1048576"),
        ("r 0 4096 0\n", "No such file"),
    ],
)
def test_the_program_refuses(commands: str, says: str, program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [program, tmp_path / "none"], input=commands, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1 and not done.stdout
