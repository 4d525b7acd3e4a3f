"""Engines: settings that each takes or refuses, files' roles, what survives a crash, builds of drivers."""

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.figures import style
from analysis.schemas import ledger as schema
from base import identity
from base.errors import BadInputError
from base.paths import ROOT
from commitpath.boards.payload import cell_env
from commitpath.cells import combinations, identities, profiles
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_name
from commitpath.cells.profiles import load_profile
from images import artifacts, programs
from model import durability, engines
from model.engines import survival
from model.engines.survival import ALL, CORRUPT, HOLES, LAST, RECENT, UNOPENED, UNSYNCED


@pytest.mark.parametrize("engine", sorted(axes()["engine"].choices()))
def test_each_engine_is_known_in_every_stage(engine: str) -> None:
    assert engine in engines.names()
    cell = make_cell({"ENGINE": engine})
    assert cell_name(cell) == identity.cell_name(identities.stored(cell))
    env = cell_env(cell, "/db")
    asked = engines.by_name(engine).requested(cell)
    assert asked
    for name, value in asked.items():
        assert f"--{name.replace('_', '-')} {value}" in env


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            "leveldb JOURNAL_MODE=wal",
            "JOURNAL_MODE: not a setting of ENGINE=leveldb; ENGINE=sqlite takes delete, ",
        ),
        ("leveldb SYNCHRONOUS=normal", "SYNCHRONOUS=normal: ENGINE=leveldb takes off, full"),
        ("leveldb LOG_SIZE=8192", "ENGINE=ppl or ssl takes a whole number from 4096 "),
        ("leveldb WORKLOAD=rlbench", "ENGINE=leveldb: WORKLOAD=rlbench is for ppl, sqlite, ssl only"),
        (
            "lmdb SYNC=off",
            "SYNC: not a setting of ENGINE=lmdb; ENGINE=leveldb or rocksdb or sqlitekv takes off, full; "
            "ENGINE=sqlite takes off, normal, full, extra; ENGINE=ssl takes normal, full$",
        ),
        ("leveldb SYNC=off SYNC_EVERY=5", "=5: without effect with SYNCHRONOUS=off; use SYNC.*=full$"),
        ("lmdb MAPASYNC=on", "MAPASYNC=on: ENGINE=lmdb takes it with WRITEMAP=on, not off"),
        ("lmdb BLOOM_BITS=1", "ENGINE=lmdb; ENGINE=leveldb or rocksdb takes .* to 64 bits$"),
        (
            "sqlitekv QUERY_CACHE_PLACE=compiler",
            "QUERY_CACHE_PLACE=compiler: ENGINE=sqlitekv takes it with another QUERY_CACHE than 0",
        ),
        ("rocksdb WAL_RECOVERY_MODE=point", "WAL_RECOVERY_MODE is kTolerateCorruptedTailRecords, kAbsolute"),
        ("ssl SYNCHRONOUS=off", "SYNCHRONOUS=off: ENGINE=ssl takes normal, full"),
        ("ssl SYNCHRONOUS=normal LOG_MEDIUM=pcm", "takes it with LOG_MEDIUM=fdatasync or msync, not pcm"),
        ("ssl CHECKPOINT_WRITE=atomic PROBES=none", "FS=ext4-ordered has no atomic_writes; use FS=f2fs"),
        ("ssl CHECKPOINT_WRITE=atomic FS=f2fs", "ENGINE=ssl takes it with PROBES=none, not bio"),
        ("ssl SQLITE=3.8.9", "SQLITE=3.8.9: ENGINE=ssl takes 3.53.4, 3.46.1, 3.44.2"),
        ("ppl SECTOR_SIZE=4096 LOG_SIZE=4096", "=4096: ENGINE=ppl takes 8192 or more with SECTOR_SIZE=4096"),
    ],
)
def test_what_an_engine_does_not_have_is_refused(given: str, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        make_cell(dict(word.split("=", 1) for word in f"ENGINE={given}".split()))


TOGETHER = [
    (engine, name, value, needs)
    for engine in axes()["engine"].choices()
    for name, values in load_profile("engine", engine).get("only_with", {}).items()
    for value, needs in values.items()
]


@pytest.mark.parametrize(("engine", "name", "value", "needs"), TOGETHER)
def test_a_setting_goes_only_with_what_it_needs(
    engine: str, name: str, value: object, needs: dict[str, list[str]]
) -> None:
    given = {name: value, **{key: fit[0] for key, fit in needs.items()}}
    cell = replace(make_cell({"ENGINE": engine, "FS": "f2fs"}), **given)
    combinations.check_engine(cell, None)
    for key, fit in needs.items():
        unfit = next(one for one in (*_words(key, load_profile("engine", engine)), "7") if one not in fit)
        with pytest.raises(BadInputError, match=f"ENGINE={engine} takes it with "):
            combinations.check_engine(replace(cell, **{key: unfit}), None)


@pytest.mark.parametrize("engine", ["leveldb", "lmdb", "ppl", "rocksdb", "sqlitekv", "ssl"])
def test_each_setting_of_a_store_has_its_values(engine: str) -> None:
    """Others, and numbers just outside its range, are one line that says what is allowed."""
    for name in sorted(set(load_profile("engine", engine)["settings"].values())):
        axis = axes()[name]
        values = {"minimum": -1, "maximum": 1}
        outside = [str(axis.spec[end] + by) for end, by in values.items() if end in axis.spec]
        for value in ("x", "", *outside):
            with pytest.raises(
                BadInputError, match=f"^{axis.variable}={value}: {axis.variable} is "
            ) as error:
                make_cell({"ENGINE": engine, axis.variable: value})
            assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("000012.log", "log"),
        ("000012.ldb", "table"),
        ("MANIFEST-000004", "manifest"),
        ("CURRENT", "current"),
        ("000007.dbtmp", "current"),
        ("OPTIONS-000012", "current"),
        ("IDENTITY", "current"),
        ("LOG.old", "info"),
        ("LOG.old.1795779686302225", "info"),
        ("LOCK", "other"),
        ("data.mdb", "data"),
        ("lock.mdb", "lock"),
        ("sample.db-wal", "wal"),
        ("sample.db-sla", "statements"),
        ("sample.db-ppl", "pages"),
        ("sample.db-merge", "merge"),
        ("sample.db", "database"),
    ],
)
def test_files_by_name(name: str, role: str) -> None:
    assert engines.role(name, ["sample.db"]) == role


@pytest.mark.parametrize("engine", ["ssl", "ppl"])
@pytest.mark.parametrize("medium", ["fdatasync", "msync", "pcm"])
def test_what_survives_in_a_log(engine: str, medium: str) -> None:
    promised = durability.promised(make_cell({"ENGINE": engine, "LOG_MEDIUM": medium}))
    assert (promised.process, promised.system, promised.power) == (ALL, ALL, ALL)


@pytest.mark.parametrize(
    ("variables", "process", "system"),
    [
        ({"ENGINE": "lmdb"}, ALL, ALL),
        ({"ENGINE": "lmdb", "NOMETASYNC": "on"}, ALL, LAST),
        ({"ENGINE": "lmdb", "NOSYNC": "on"}, ALL, CORRUPT),
        ({"ENGINE": "lmdb", "WRITEMAP": "on"}, ALL, ALL),
        ({"ENGINE": "lmdb", "WRITEMAP": "on", "MAPASYNC": "on"}, ALL, CORRUPT),
        ({"ENGINE": "rocksdb"}, ALL, ALL),
        ({"ENGINE": "rocksdb", "SYNC": "off"}, ALL, UNSYNCED),
        ({"ENGINE": "rocksdb", "SYNC": "off", "DISABLE_WAL": "on"}, RECENT, RECENT),
        ({"ENGINE": "rocksdb", "WAL_RECOVERY_MODE": "kTolerateCorruptedTailRecords"}, ALL, ALL),
        ({"ENGINE": "rocksdb", "WAL_RECOVERY_MODE": "kAbsoluteConsistency"}, ALL, UNOPENED),
        ({"ENGINE": "rocksdb", "SYNC": "off", "WAL_RECOVERY_MODE": "kSkipAnyCorruptedRecords"}, ALL, HOLES),
    ],
)
def test_what_survives_in_keys_and_values(variables: dict[str, str], process: str, system: str) -> None:
    promised = durability.promised(make_cell(variables))
    assert (promised.process, promised.system, promised.power) == (process, system, system)


def test_an_engine_says_what_its_pages_are_called() -> None:
    """Nothing else lists its files' roles, their labels and colours; a run shows its engine's alone."""
    files = {name: engines.by_name(name).FILES for name in engines.names()}
    assert files["leveldb"].keys() == {"log", "table", "manifest", "current", "info"}
    for name, own in files.items():
        engine = engines.by_name(name)
        assert set(own) <= set(schema.FILES) and set(own) <= set(engines.roles(engine))
        for role, (label, color) in own.items():
            assert style.FILES[role] == color and label in style.LABELS
            assert not engines.label_of_another(label, engine)
    assert engines.label_of_another("WAL", engines.by_name("leveldb"))
    assert engines.label_of_another("manifest", engines.by_name("sqlite"))
    assert not engines.label_of_another("filesystem journal", engines.by_name("leveldb"))
    assert tuple(style.LABELS) == schema.LABELS


def test_no_engine_code_ends_the_process() -> None:
    """Errors are returned: the driver decides what a failed call is. What records calls may end it."""
    recording = {f"rocksdb/{name}.c" for name in ("background", "files", "tables")}
    folder = ROOT / "workloads/engines"
    sources = [path for path in folder.glob("*/*.[ch]") if str(path.relative_to(folder)) not in recording]
    assert len(sources) > 5
    for path in sources:
        assert not re.search(r"\b(fail|fail_usage|exit|_exit|abort)\(", path.read_text()), path


def test_what_builds_the_driver_names_no_engine() -> None:
    words = re.compile(rf"\b({'|'.join(engines.names())})", re.I)
    for name in ("artifacts", "programs"):
        assert not words.search((ROOT / f"images/{name}.py").read_text())
    targets = re.findall(r"^([a-z][a-z-]*(?:%|\w+))\s*:", (ROOT / "workloads/Makefile").read_text(), re.M)
    assert "sanitized-engine-%" in targets
    assert not [target for target in targets if words.search(target)]


@pytest.mark.parametrize("engine", engines.names())
def test_an_engine_with_releases_can_get_them(engine: str) -> None:
    profile = profiles.load_profile("engine", engine)
    release = profile.get("release")
    folder = ROOT / "workloads/engines" / programs.made_of(engine)[-1]
    assert (folder / "fetch.py").is_file() == bool(release)
    assert ("RELEASE_DIR" in (folder / "engine.mk").read_text()) == bool(release)
    assert release is None or release in axes()


@pytest.mark.parametrize(("engine", "made"), [("ssl", ["fetch", "compile", "build"]), ("leveldb", ["build"])])
def test_a_driver_of_a_release_has_it_compiled(
    engine: str, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The release is fetched and compiled once, and given to the driver's own build."""
    told: list[tuple[str, list[str]]] = []

    def make_driver(work: Path, root: Path, target: str, log: str, **variables: str) -> Path:
        told.append((target, sorted(path.name for path in work.iterdir())))
        objects = work / "out/driver.objects"
        objects.mkdir(parents=True)
        (objects / "library.o").touch()
        (work / "out/driver").touch()
        assert ("RELEASE_DIR" in variables) == ("release" in told[-1][1])
        return work / "out/driver"

    def fetch(command: list[str], what: str) -> None:
        Path(command[-1]).mkdir(parents=True)
        (Path(command[-1]) / "source.c").write_text("")
        told.append(("fetch", []))

    (tmp_path / "root").mkdir()
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(artifacts, "build_root", lambda: tmp_path / "root")
    monkeypatch.setattr(programs, "make_driver", make_driver)
    monkeypatch.setattr(artifacts, "run", fetch)
    cell = make_cell({"ENGINE": engine})
    driver = programs.driver(cell)
    assert driver.is_file() and driver == programs.driver(cell)
    kinds = {"fetch": "fetch", "library": "compile", "driver": "build"}
    assert [kinds[target] for target, _ in told] == made
    assert ("release.o" in told[-1][1]) == (len(made) > 1)


STORES = ("leveldb", "lmdb", "rocksdb")


@pytest.mark.parametrize("engine", STORES)
def test_each_promise_has_its_source_and_applies_to_some_cell(engine: str) -> None:
    """The rows of a table are in order: each is the first one for some values."""
    profile = load_profile("engine", engine)
    rows, axis_of = profile["promises"], {k.replace("-", "_"): v for k, v in profile["settings"].items()}
    named = sorted({name for row in rows for name in row["when"]})
    choices = [(["1", "2"] if name == "sync_every" else _words(axis_of[name], profile)) for name in named]
    applied = set[tuple[str, str]]()
    for values in itertools.product(*choices):
        settings = {
            name: int(value) if value.isdigit() else value for name, value in zip(named, values, strict=True)
        }
        applied.add(engines.by_name(engine).survives(settings))
    promised = {(survival.OUTCOMES[row["process"]], survival.OUTCOMES[row["system"]]) for row in rows}
    assert applied == promised
    assert all(row["source"].strip() for row in rows)


@pytest.mark.parametrize("mode", ["delete", "truncate", "wal", "memory"])
def test_a_journal_that_stays_open_ends_by_a_synced_write(mode: str) -> None:
    """pager.c: with locking_mode=EXCLUSIVE a journal is not deleted, so the commit waits for its end."""
    sqlite = engines.by_name("sqlite")
    for level in ("off", "normal", "full", "extra"):
        settings = {"journal_mode": mode, "synchronous": level}
        as_kept = {**settings, "journal_mode": "persist"} if mode == "delete" else settings
        # a run made before the setting does not have it
        assert sqlite.survives({**settings, "locking_mode": "normal"}) == sqlite.survives(settings)
        assert sqlite.survives({**settings, "locking_mode": "exclusive"}) == sqlite.survives(as_kept)


def _words(axis: str, profile: dict[str, Any]) -> list[str]:
    """The values that an engine takes of an axis."""
    return list(profile.get("allowed", {}).get(axis) or axes()[axis].spec.get("enum", []))


def test_settings_without_a_promise_are_an_error() -> None:
    with pytest.raises(KeyError, match="leveldb promises nothing with"):
        survival.promised("leveldb", {"sync": "sometimes", "sync_every": 1})


@pytest.mark.parametrize(
    ("variables", "syncs"),
    [
        ({"ENGINE": "lmdb"}, "full"),
        ({"ENGINE": "lmdb", "NOSYNC": "on"}, "nosync"),
        ({"ENGINE": "lmdb", "NOMETASYNC": "on", "WRITEMAP": "on", "MAPASYNC": "on"}, "nometasync-mapasync"),
        ({"ENGINE": "leveldb", "SYNC_EVERY": "11"}, "full-every-11"),
        ({"ENGINE": "rocksdb", "SYNC": "off"}, "off"),
    ],
)
def test_a_cells_name_has_its_syncs(variables: dict[str, str], syncs: str) -> None:
    assert cell_name(make_cell(variables)).startswith(f"ext4-ordered-{variables['ENGINE']}-{syncs}-apsys17-")
