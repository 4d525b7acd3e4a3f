"""A CPU for each board, as long as there are CPUs."""

import os
from contextlib import ExitStack

import pytest

from images import cpus


@pytest.fixture(autouse=True)
def _two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of two CPUs, and claims that are no board's."""
    monkeypatch.setattr(cpus, "CLAIM", f"\0commitpath-test-{os.getpid()}/cpu")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def test_each_board_has_its_own() -> None:
    with ExitStack() as stack:
        claimed = [stack.enter_context(cpus.own_cpu()) for _ in range(3)]
    assert claimed == [{1}, {0}, {0, 1}]


def test_a_claim_ends_with_its_block() -> None:
    for _ in range(2):
        with cpus.own_cpu() as claimed:
            assert claimed == {1}


def test_a_claim_ends_with_its_process() -> None:
    if (child := os.fork()) == 0:
        cpus.own_cpu().__enter__()
        os._exit(0)
    os.waitpid(child, 0)
    with cpus.own_cpu() as claimed:
        assert claimed == {1}
