"""Cell ids: of what is not at its default and of what profiles ask for, and of nothing else."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from base import identity, schema
from base.paths import ROOT
from commitpath.cells import axes, identities, profiles
from commitpath.cells import from_variables as cells
from model import cell as cells_of

# A default that changes gives every cell that leaves it another id: that takes another rule.
DEFAULTS = {
    "board": "virtual",
    "clock": "virtual",
    "cpu_ns": 2,
    "kernel": "6.12",
    "device": "constant",
    "fs": "ext4-ordered",
    "mkfs_options": "",
    "mount_options": "",
    "engine": "sqlite",
    "journal_mode": "delete",
    "synchronous": "full",
    "sqlite": "newest",
    "page_size": 4096,
    "cache_size": -2000,
    "wal_autocheckpoint": 1000,
    "journal_size_limit": -1,
    "checkpoint_every": -1,
    "workload": "apsys17",
    "rows": 100000,
    "n": 1000,
    "value_size": 3072,
    "seed": 1,
    "probes": "bio,block,filesystem,flush,wait,writeback",
}
# No id has what these ask for: engines have no profile in a cell, and the default kernel's is left out. So
# what changes here gives a cell of that id another meaning: that takes another name, or another rule. A
# setting that is added with what a run had before as its default changes no meaning.
CONTENTS = {
    "engine/leveldb.yml": "834ed1d19aa7",
    "engine/sqlite.yml": "467fc7262bcf",
    "kernel/6.12.yml": "61b424b1a9f3",
}
CHANGES_RUNS = ("allowed", "populate", "release", "settings", "suite", "watched")
SOME = ({}, {"FS": "f2fs", "MODE": "wal", "DEVICE": "emmc-5.0"}, {"ENGINE": "leveldb", "WORKLOAD": "kv"})
CACHES = (schema.schema, axes.axes, axes.data_files, axes.aliases, profiles.load_profile)


@pytest.fixture
def experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the data files, in place of them."""
    copy = tmp_path / "experiments"
    shutil.copytree(ROOT / "experiments", copy)
    monkeypatch.setattr(axes, "EXPERIMENTS", copy)
    monkeypatch.setattr(schema, "EXPERIMENTS", copy)
    for cache in CACHES:
        cache.cache_clear()
    yield copy
    monkeypatch.undo()
    for cache in CACHES:
        cache.cache_clear()


def ids() -> list[str]:
    return [identities.cell_id(cells.make_cell(variables)) for variables in SOME]


def change(path: Path, **values: Any) -> None:
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


def test_defaults_are_those_of_the_rule() -> None:
    now = {name: axis.spec["default"] for name, axis in axes.axes().items()}
    assert {name: now[name] for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize("name", CONTENTS)
def test_what_no_id_has_is_as_it_was(name: str) -> None:
    profile = yaml.safe_load((ROOT / "experiments" / name).read_text())
    runs = {key: profile[key] for key in CHANGES_RUNS if key in profile}
    assert identity.digest(runs)[:12] == CONTENTS[name]


def test_what_is_for_readers_is_in_no_id(experiments: Path) -> None:
    before = ids()
    changed = yaml.safe_load((experiments / "schema.yml").read_text())
    changed["properties"]["moon"] = {
        "description": "its phase",
        "x-of": "board",
        "enum": ["new", "full"],
        "default": "new",
    }
    (experiments / "schema.yml").write_text(yaml.safe_dump(changed, sort_keys=False))
    for path in experiments.glob("device/*.yml"):
        text = path.read_text()
        path.write_text(f"# a comment\n{text}")
        source = {"measure": "write_fua_4k", "value": 1, "unit": "us", "source": "a page that can be read"}
        change(path, description="another", sources=[source])
    for path in [*experiments.glob("fs/*.yml"), *experiments.glob("workload/*.yml")]:
        change(path, description="another")
    for cache in CACHES:
        cache.cache_clear()
    assert cells.make_cell({}).has("moon")
    assert ids() == before
    assert identities.cell_id(cells.make_cell({"MOON": "full"})) not in before


def test_what_a_profile_asks_for_is_in_the_id(experiments: Path) -> None:
    before = ids()
    path = experiments / "device/emmc-5.0.yml"
    timing = yaml.safe_load(path.read_text())["timing"]
    change(path, timing=timing | {"seed": timing["seed"] + 1})
    for cache in CACHES:
        cache.cache_clear()
    after = ids()
    assert [a == b for a, b in zip(after, before, strict=True)] == [True, False, True]


@pytest.mark.parametrize("name", cells_of.AXES)
def test_a_stored_cell_that_lacks_an_axis_has_its_default(name: str) -> None:
    made = identities.stored(cells.make_cell({"FS": "f2fs"}))
    older = {key: value for key, value in made.items() if key != name}
    settings = {key: value for key, value in made.items() if key != "at_default"}
    cell = cells_of.from_document(older)
    assert cell.absent == {name}
    assert cell.document() == {key: value for key, value in settings.items() if key != name}
    if name in made["at_default"]:
        assert identities.complete(cell).document() == settings
        assert identities.current_id(older) == identity.cell_id(older) == identity.cell_id(made)
