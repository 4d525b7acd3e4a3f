"""The order in which runner.py has its tests."""

import groups
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """What runner.py asks for."""
    parser.addoption("--queue", action="store_true", help="in the order of budgets.yml")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The queue: the groups that take longest first, so that all workers are busy to the end."""
    if config.getoption("--queue"):
        known = groups.read()
        items.sort(key=lambda item: known.index(groups.of(item.nodeid, known)))
