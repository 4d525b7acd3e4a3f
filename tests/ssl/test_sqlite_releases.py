"""Both logs with each other release of SQLite: what is acknowledged is there after any crash, no more.

Debian's release: test_statement_log.py, test_page_log.py.
"""

from pathlib import Path

import crashes
import pytest
import test_page_log
import test_statement_log
from crashes import count, crash
from test_statement_log import CASES, REASONS

from commitpath.cells.axes import newest
from commitpath.cells.profiles import load_profile

RELEASES = [name for name in load_profile("engine", "ssl")["allowed"]["sqlite"] if name != newest()]
PAGES = load_profile("engine", "ppl")["allowed"]["sqlite"]
# A scene has the release's number in which the lowest byte is changed.
SCENES = test_statement_log.SCENES.keys() - {"release"}


def test_both_logs_have_the_same_releases() -> None:
    assert {*PAGES} == {*RELEASES, newest()}


@pytest.mark.parametrize("release", RELEASES)
def test_power_cuts_lose_and_invent_nothing(release: str) -> None:
    """And each case of a recovery is met, and each reason of a checkpoint but one that has its scene: before
    3.12 the disk's calls are mostly those of statement journals, and a cut is in any large transaction."""
    counted, message = crash(f"ssl-{release}", "cuts", "all", 100, 60)
    assert (counted["bad"], message) == (0, "")
    assert counted["recoveries"] == 240 and counted["cut recoveries"] > 100
    assert counted["acknowledged"] > 1500 and counted["in flight"] > 50 and counted["replayed"] > 200
    assert tuple(counted["cases"]) == CASES and min(counted["cases"].values()) > 0, counted["cases"]
    reasons = {*REASONS} - {"larger than the log"}
    assert all(counted["checkpoints"][reason] > 0 for reason in reasons), counted["checkpoints"]


@pytest.mark.parametrize("reading", test_page_log.READINGS)
@pytest.mark.parametrize("release", RELEASES)
def test_power_cuts_of_a_page_log(release: str, reading: str) -> None:
    counted, message = crash(f"ppl-{release}", "cuts", "all", 100, 60, reading)
    assert (counted["bad"], message) == (0, "")
    assert counted["recoveries"] == 240 and counted["cut recoveries"] > 80
    assert counted["acknowledged"] > 1000 and counted["in flight"] > 40 and counted["replayed"] > 150
    met = {case for case, times in counted["cases"].items() if times}
    assert set(counted["cases"]) - met <= test_page_log.NOT_MET | test_page_log.RARE


@pytest.mark.parametrize("mix", ["plain", "values", "random", "blobs", "same"])
@pytest.mark.parametrize("release", RELEASES)
def test_power_cuts_of_one_kind(release: str, mix: str) -> None:
    counted, message = crash(f"ssl-{release}", "cuts", mix, 1, 25)
    assert (counted["bad"], message) == (0, "")
    assert mix == "blobs" or counted["replayed"] > 500


@pytest.mark.parametrize("fault", ["eio", "nomem"])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("engine", ["ssl", "ppl"])
def test_a_call_that_fails_loses_nothing(engine: str, release: str, fault: str) -> None:
    counted, message = crash(f"{engine}-{release}", "faults", fault, 1, 25)
    assert (counted["bad"], message) == (0, "")
    assert counted["failures"] > 25 and counted["recoveries"] > 50


@pytest.mark.parametrize("kind", ["eio", "nomem", "cut", "killed"])
@pytest.mark.parametrize("release", RELEASES)
def test_some_calls_of_a_life(release: str, kind: str) -> None:
    counted, message = count(f"ssl-{release}", "every", kind, 11, 1571 if kind == "nomem" else 97)
    assert (counted["bad"], message) == (0, "")
    assert counted["recoveries"] >= counted["runs"] >= 10


@pytest.mark.parametrize("scene", sorted(SCENES))
@pytest.mark.parametrize("release", RELEASES)
def test_scenes(release: str, scene: str) -> None:
    crashes.play(f"ssl-{release}", scene, test_statement_log.SCENES[scene])


@pytest.mark.parametrize("scene", test_page_log.SCENES)
@pytest.mark.parametrize("release", RELEASES)
def test_scenes_of_a_page_log(release: str, scene: str) -> None:
    crashes.play(f"ppl-{release}", scene, test_page_log.SCENES[scene])


@pytest.mark.parametrize("release", RELEASES)
def test_a_log_of_another_release_is_refused(release: str) -> None:
    first, second, third = (int(part) for part in release.split(".")[:3])
    number = first * 1000000 + second * 1000 + third
    another = number & ~0xFF | 9
    crashes.play(f"ssl-{release}", "release", [f"is of SQLite {another}, and this is {number}"])


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("engine", ["ssl", "ppl"])
def test_a_process_that_is_killed(engine: str, release: str, tmp_path: Path) -> None:
    crashes.kill(f"{engine}-{release}", "fdatasync", tmp_path)
