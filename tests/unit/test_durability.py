"""The durability rule, as SQLite's documentation states it."""

import itertools
from dataclasses import replace

import pytest
from some_cell import some_cell

from model import durability
from model.durability import rule
from model.engines.survival import ALL, CORRUPT, LAST, RARELY_CORRUPT, RECENT

RULES = {
    ("delete", "off"): (ALL, CORRUPT, CORRUPT),
    ("delete", "normal"): (ALL, RARELY_CORRUPT, RARELY_CORRUPT),
    ("delete", "full"): (ALL, LAST, LAST),
    ("delete", "extra"): (ALL, ALL, ALL),
    ("truncate", "full"): (ALL, ALL, ALL),
    ("persist", "full"): (ALL, ALL, ALL),
    ("wal", "off"): (ALL, CORRUPT, CORRUPT),
    ("wal", "normal"): (ALL, RECENT, RECENT),
    ("wal", "full"): (ALL, ALL, ALL),
    ("memory", "full"): (CORRUPT, CORRUPT, CORRUPT),
    ("off", "extra"): (CORRUPT, CORRUPT, CORRUPT),
}


def sqlite(journal_mode: str, synchronous: str, *mount_options: str) -> durability.Durability:
    return rule("sqlite", {"journal_mode": journal_mode, "synchronous": synchronous}, mount_options)


@pytest.mark.parametrize(("settings", "expected"), RULES.items())
def test_rule(settings: tuple[str, str], expected: tuple[str, str, str]) -> None:
    assert sqlite(*settings, "data=ordered") == durability.Durability(*expected)


def test_every_setting_has_a_rule() -> None:
    modes = ("delete", "truncate", "persist", "wal", "memory", "off")
    for mode, sync in itertools.product(modes, ("off", "normal", "full", "extra")):
        assert sqlite(mode, sync).rows()
    with pytest.raises(KeyError):
        sqlite("wal2", "full")


@pytest.mark.parametrize("option", sorted(durability.NO_BARRIER))
def test_without_barriers_power_may_corrupt(option: str) -> None:
    cell = some_cell(
        synchronous="full",
        mount_options=f"noatime,{option}",
        journal_mode="wal",
        profiles={"fs": {"mount": ["data=ordered"]}},
    )
    assert durability.promised(cell) == durability.Durability(ALL, ALL, CORRUPT)
    assert durability.differences(*map(durability.promised, (cell, replace(cell, mount_options="")))) == [
        ("a power failure", CORRUPT, ALL)
    ]
