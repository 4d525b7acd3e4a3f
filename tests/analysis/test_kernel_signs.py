"""What a run's kernel and observers leave in it, and a run that was given another kernel's name."""

from types import SimpleNamespace
from typing import Any

import pytest

from analysis.checks import board

CONTENT = "0123456789abcdef" * 4


def run(kernel: str = "6.12", profile: dict[str, Any] | None = None, **other: Any) -> Any:
    """A virtual board's run of that kernel, as the checks see it."""
    given = {"by": "fentry", "version": 7, "versions": {"blktrace": "1.3"}, "seen": {}} | other
    witness = SimpleNamespace(version=given["version"])
    return SimpleNamespace(
        cell={"board": "virtual", "kernel": kernel, "profiles": {"kernel": profile} if profile else {}},
        board=SimpleNamespace(run={"probes": {"by": given["by"]}}, versions=given["versions"]),
        witnesses={"blktrace": witness},
        seen=given["seen"],
    )


@pytest.mark.parametrize(
    ("kernel", "by", "version", "says"),
    [
        ("6.12", "fentry", 7, None),
        ("6.12", None, 7, None),
        ("6.1", "kprobe", 7, None),
        ("7.x", "fentry", 8, None),
        ("tree:0123456789ab", "fentry", 8, None),
        ("6.1", "fentry", 7, "the probes were attached by fentry; to KERNEL=6.1 it is by kprobe"),
        ("6.12", "kprobe", 7, "the probes were attached by kprobe; to KERNEL=6.12 it is by fentry"),
        ("7.x", "fentry", 7, "blktrace has records of version 7; of KERNEL=7.x they are of 8"),
        ("6.12", "fentry", 8, "blktrace has records of version 8; of KERNEL=6.12 they are of 7"),
    ],
)
def test_a_kernel_leaves_its_signs(kernel: str, by: str | None, version: int, says: str | None) -> None:
    assert board.leaves_its_signs(run(kernel, by=by, version=version)) == ([says] if says else [])


@pytest.mark.parametrize(
    ("kernel", "profile", "versions", "says"),
    [
        ("6.12", None, {}, None),
        ("tree:0123456789ab", {"tree": CONTENT}, {"linux-tree": "6.9"}, None),
        ("deb:0123456789ab", {"deb": CONTENT}, {}, None),
        (
            "tree:aaaaaaaaaaaa",
            {"tree": CONTENT},
            {"linux-tree": "6.9"},
            "the cell's kernel is tree:aaaaaaaaaaaa,",
        ),
        (
            "tree:0123456789ab",
            {"deb": CONTENT},
            {"linux-tree": "6.9"},
            "the cell's kernel is tree:0123456789ab,",
        ),
        (
            "tree:0123456789ab",
            {"tree": CONTENT},
            {},
            "versions.txt has no linux-tree, the cell's kernel is tree",
        ),
        ("6.12", None, {"linux-tree": "6.9"}, "versions.txt has a linux-tree, the cell's kernel is 6.12"),
    ],
)
def test_a_users_kernel_is_called_after_its_content(
    kernel: str, profile: dict[str, Any] | None, versions: dict[str, str], says: str | None
) -> None:
    found = board.named(run(kernel, profile, versions=versions))
    assert len(found) == bool(says) and (not says or found[0].startswith(says))


def test_who_watched_has_its_programs_on_the_board() -> None:
    watched = {"probes": None, "blktrace": None}
    assert board.has_its_observers(run(seen=watched)) == []
    (reason,) = board.has_its_observers(run(seen=watched | {"bpftrace": None}))
    assert reason == "bpftrace watched, and its package bpftrace is not in versions.txt"
