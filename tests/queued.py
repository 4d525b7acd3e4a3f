"""What runner.py's workers do: the order of its tests, and the CPU time of each."""

import resource

import commands
import groups
import pytest

_BEGIN = pytest.StashKey[float]()


def _cpu_s() -> float:
    """CPU seconds of this worker, of its children that ended, and of the commands that it called."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) + sum(commands.used_s)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What runner.py asks for."""
    parser.addoption("--queue", metavar="GROUPS", help="these of budgets.yml, with commas, in its order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The queue: the groups that take longest first, so that all workers are busy to the end."""
    if queue := config.getoption("--queue"):
        known, asked = groups.read(), queue.split(",")
        group = {item: groups.of(item.nodeid, known) for item in items}
        items[:] = [item for item in items if group[item].name in asked]
        items.sort(key=lambda item: known.index(group[item]))


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
