"""What runner.py's workers do: the order of its tests, and the CPU time of each."""

import resource

import groups
import pytest

_BEGIN = pytest.StashKey[float]()


def _cpu_s() -> float:
    """CPU seconds of this worker and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What runner.py asks for."""
    parser.addoption("--queue", action="store_true", help="in the order of budgets.yml")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The queue: the groups that take longest first, so that all workers are busy to the end."""
    if config.getoption("--queue"):
        known = groups.read()
        items.sort(key=lambda item: known.index(groups.of(item.nodeid, known)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):  # type: ignore[no-untyped-def]
    """Note the CPU time at a test's begin."""
    item.stash[_BEGIN] = _cpu_s()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Tell the CPU time of a test, with what it set up for others, by its last report."""
    if call.when == "teardown":
        item.user_properties.append(("cpu_s", _cpu_s() - item.stash[_BEGIN]))
