"""The mutation run tells what deceives from what does not; and a small one of it."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import attempts  # noqa: E402
import kinds  # noqa: E402
import moved  # noqa: E402
import mutations  # noqa: E402
from forged import Forged  # noqa: E402
from side import Absent  # noqa: E402

from base.errors import BadInputError  # noqa: E402

WAL = ("WAL", None, "wal", "in", None, "insert", 0)
META = ("directory", None, None, "in", None, "insert", 0)
TRUE = moved.Told(
    reasons=frozenset(),
    bytes={WAL: 9000.0, META: 1000.0},
    deferred={(0, 1, None): 500.0},
    times={("insert", "latency_ns"): 1000.0, ("insert", "cpu_ns"): 100.0},
    figures={"tps insert": 50.0},
    settings="full",
)
INTERRUPTED = "mutations: interrupted; nothing is left running\n"
SAMPLE = next(iter(attempts.SAMPLES))


def told(**changed: object) -> moved.Told:
    return dataclasses.replace(TRUE, **changed)  # type: ignore[arg-type]


def with_bytes(size: float, **other: object) -> dict[tuple[object, ...], float]:
    """As much of the WAL as `size` bytes is said to be something else."""
    key = tuple(other.get(name, value) for name, value in zip(moved._CAUSE, WAL, strict=True))
    return {**TRUE.bytes, WAL: TRUE.bytes[WAL] - size, key: size}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples, unpacked."""
    folder = tmp_path_factory.mktemp("samples")
    attempts.unpack(attempts.SAMPLES, folder)
    return folder


CASES = {
    "nothing": (told(), "harmless"),
    "a reason that is new": (told(reasons=frozenset(["no"])), "noticed"),
    "another label": (told(bytes=with_bytes(11, label="other")), "missed"),
    "another transaction": (told(bytes=with_bytes(11, transaction=1)), "missed"),
    "no transaction": (told(bytes=with_bytes(11, transaction=None, no_transaction="close")), "missed"),
    "less than the limit": (told(bytes=with_bytes(9, label="other")), "harmless"),
    "no label": (told(bytes=with_bytes(500, label=moved.UNATTRIBUTED)), "unattributed"),
    "nobody who is known": (told(bytes=with_bytes(500, no_transaction=moved.UNKNOWN)), "unattributed"),
    "bytes that are gone": (told(bytes={WAL: 9000.0}), "missed"),
    "another's content": (told(deferred={(0, 2, None): 500.0}), "missed"),
    "a part of the time": (told(times={**TRUE.times, ("insert", "cpu_ns"): 111.0}), "missed"),
    "little of the time": (told(times={**TRUE.times, ("insert", "cpu_ns"): 109.0}), "harmless"),
    "a rate": (told(figures={"tps insert": 50.6}), "missed"),
    "a rate that is gone": (told(figures={}), "missed"),
    "a setting": (told(settings="off"), "missed"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_verdict(case: str) -> None:
    forged, verdict = CASES[case]
    assert attempts.judge(TRUE, forged)[0] == verdict


def test_what_the_true_run_is_rejected_for_is_no_notice() -> None:
    true = told(reasons=frozenset(["no twin"]))
    assert attempts.judge(true, dataclasses.replace(true, settings="off"))[0] == "missed"


def test_a_crash_of_the_analysis_is_missed(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = attempts.Try("counters_changed", SAMPLE, 1, 0)
    assert attempts.attempt(one, samples).verdict == "noticed"

    def crash(_: Path) -> moved.Told:
        raise ZeroDivisionError

    monkeypatch.setattr(moved, "told", crash)
    assert attempts.attempt(one, samples).verdict == "missed"


def test_only_a_known_kind_cannot_be_told(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(attempts.known()) <= set(kinds.find())
    one = attempts.Try("changes_of_none", SAMPLE, 1, 0)
    monkeypatch.setattr(attempts, "judge", lambda *_: ("missed", "all of it"))
    assert attempts.attempt(one, samples).verdict == "missed"
    monkeypatch.setattr(attempts, "known", lambda: {one.kind: "nobody counts them"})
    assert attempts.attempt(one, samples).verdict == "cannot be told"


def test_none_of_a_sample_is_missed() -> None:
    outcomes = mutations.run(mutations.tries({"SAMPLE": "f2fs-wal", "SEED": "1", "N": "1"}))
    assert [one.tried.again for one in outcomes if one.verdict == "missed"] == []
    assert sum(one.verdict == "noticed" for one in outcomes) > 80


def same(forged: Path, true: Path) -> bool:
    """Whether a file is there and as it was."""
    return forged.is_file() and forged.read_bytes() == true.read_bytes()


@pytest.mark.parametrize("name", kinds.find())
def test_a_kind_spoils_a_sample(name: str, samples: Path, tmp_path: Path) -> None:
    """Each one changes some file, besides the hashes, of some sample; and says in words what it does."""
    assert re.fullmatch("[^A-Z.|].*[^.]", kinds.told(name))
    for number, sample in enumerate(sorted(samples.glob("*/run"))):
        folder = Path(shutil.copytree(sample, tmp_path / str(number) / "run"))
        run = Forged(folder)
        try:
            kinds.find()[name](run, np.random.default_rng(1))
        except Absent:
            continue
        run.write()
        changed = [
            path
            for path in sample.rglob("*")
            if path.is_file()
            and path.name != "host.json"
            and not same(folder / path.relative_to(sample), path)
        ]
        if changed:
            return
    pytest.fail(f"no sample has what {name} could spoil")


def test_the_hashes_are_made_anew(samples: Path, tmp_path: Path) -> None:
    """So it is not they by which a forgery is noticed; and what is read and written back is the same."""
    sample = samples / SAMPLE / "run"
    folder = Path(shutil.copytree(sample, tmp_path / "run"))
    run = Forged(folder)
    assert (run.records.size, run.trace.records.size, run.content.records.size, run.calls.height) > (0,) * 4
    run.count("read_ios", 0, 0)
    run.twin.count("read_ios", 0, 0)
    run.write()
    assert run.document("../host.json") != json.loads((sample / "host.json").read_text())
    assert moved.told(folder) == moved.told(sample)


def test_a_seed_gives_the_same_again(samples: Path) -> None:
    one = attempts.Try("lost_bio", SAMPLE, 7, 1)
    assert attempts.attempt(one, samples) == attempts.attempt(one, samples)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"KIND": "nonesuch"}, "KIND=nonesuch: no such one; there are .*lost_bio"),
        ({"SAMPLE": "nonesuch"}, "SAMPLE=nonesuch: no such one; there are "),
        ({"SEED": "-1"}, "SEED is '-1': it is a whole number from 1 to 999999999"),
        ({"SEED": "9" * 6000}, "SEED is '9{80}…': it is a whole number from 1 to 999999999"),
        ({"N": "0"}, "N is '0': it is a whole number from 1 to 1000"),
        ({"N": "999999999"}, "N is '999999999': it is a whole number from 1 to 1000"),
        ({"N": "9" * 6000}, "N is '9{80}…': it is a whole number from 1 to 1000"),
        ({"N": "²"}, "N is '²': it is a whole number from 1 to 1000"),
        ({"ROWS": "1"}, "ROWS: unknown variable; make mutations takes KIND, SAMPLE, SEED, N"),
    ],
)
def test_a_variable_that_cannot_be_is_refused(given: dict[str, str], wrong: str) -> None:
    with pytest.raises(BadInputError, match=wrong):
        mutations.tries(given)


def test_tries_are_made_when_they_are_asked_for() -> None:
    """In a try's order: all of a sample, then the next one."""
    wanted = mutations.tries({"SEED": "7", "N": "1000"})
    assert len(wanted) == len(kinds.find()) * len(attempts.SAMPLES) * 1000
    first, second = itertools.islice(wanted, 2)
    assert (first.sample, first.seed, first.number, second.number) == (SAMPLE, 7, 0, 1)
    assert len(list(mutations.tries({"KIND": "lost_bio", "N": "3"}))) == 3 * len(attempts.SAMPLES)


def test_the_table_has_a_row_for_each_kind() -> None:
    """One for all that differ in the type of a record only."""
    seen = {
        "lost_bio": ["noticed", "missed"],
        "lost_sync": ["noticed"],
        "counters_changed": [attempts.ABSENT],
    }
    outcomes = [
        attempts.Outcome(attempts.Try(kind, SAMPLE, 1, number), verdict, "")
        for kind, verdicts in seen.items()
        for number, verdict in enumerate(verdicts)
    ]
    assert mutations.table(outcomes).splitlines()[2:] == [
        "| records of one type are lost | 2 |  |  |  | 1 |",
        "| a counter of the device grew by another number |  |  |  |  |  |",
        "| **all** | **2** | **0** | **0** | **0** | **1** |",
    ]


# under nohup it is ignored, and so it would be in what a test starts
signal.signal(signal.SIGHUP, signal.SIG_DFL)


# one that is told as soon as it has a folder, before it can have noted that
AT_ONCE = """\
import os, runpy, signal, sys
made = os.mkdir
def mkdir(path, *rest, **more):
    made(path, *rest, **more)
    if "mutations-" in str(path):
        signal.raise_signal(signal.SIGINT)
os.mkdir = mkdir
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def begun(folder: Path) -> subprocess.Popen[str]:
    """A mutation run in a session of its own that has made its folder."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, str(HERE / "mutations.py")],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not any(folder.glob("mutations-*")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


@pytest.mark.parametrize(("told", "seconds"), [(signal.SIGINT, 1), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_it_is_interrupted(told: signal.Signals, seconds: float, tmp_path: Path) -> None:
    """SIGINT comes to the whole group, as from a terminal: also to processes that are just starting."""
    with begun(tmp_path) as process:
        try:
            time.sleep(seconds)
            if told == signal.SIGINT:
                os.killpg(process.pid, told)
            else:
                process.send_signal(told)
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, said) == (130, INTERRUPTED)
    assert not any(tmp_path.iterdir())


def test_it_is_interrupted_as_soon_as_it_has_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_ONCE, str(HERE / "mutations.py")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        command, env=environment, stderr=subprocess.PIPE, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)
    assert not any(tmp_path.iterdir())
