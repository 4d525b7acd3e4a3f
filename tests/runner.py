"""Run all tests as one queue for two workers more than CPUs; skip unchanged groups, print times and budgets.

usage: runner.py [--long] [ALL=1]      --long: the groups that budgets.yml calls long, in place of the others

A group that passed with the bytes that it depends on as they are now is left out; ALL=1 runs it, too.
The seconds of every test are printed, and each group's beside its budget; one over it is no failure: it
may be the hour's, or a neighbour's.
"""

import os
import sys
import time
from collections import defaultdict

import groups
import pytest
from groups import Group
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import NodeManager

sys.path.insert(0, str(groups.ROOT))

from commitpath.host import places
from images.artifacts import CACHE

# An empty file for each group that passed, under its key.
PASSED = CACHE / "tests"
# What a worker that is interrupted may take to undo what its test made; execnet ends it after 15.
EXIT_SECONDS = 30
# All tests ran.
ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class Units(LoadScopeScheduling):
    """Hands out a unit of a group (groups.py) at a time, in the order of the collection."""

    known: list[Group]

    def _split_scope(self, nodeid: str) -> str:
        return groups.of(nodeid, self.known).unit(nodeid)


class Report:
    """What the queue is handed out by, and what is told of its tests."""

    def __init__(self, known: list[Group]) -> None:
        self.known = known
        self.seconds: dict[str, float] = defaultdict(float)
        self.cpu_s: dict[str, float] = defaultdict(float)
        # tests, and files that could not be read
        self.failed: set[str] = set()
        # of a test: what went wrong or was left out in one of its phases
        self.outcome: dict[str, str] = {}

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: object) -> Units:
        scheduler = Units(config, log)
        scheduler.known = self.known
        return scheduler

    def pytest_xdist_setupnodes(self) -> None:
        NodeManager.EXIT_TIMEOUT = EXIT_SECONDS

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: pytest.TestReport):  # type: ignore[no-untyped-def]
        """No letter for a test: it has a line of its own."""
        category, _, _ = yield
        return category, "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A line for a test that has ended."""
        self.seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self.outcome[report.nodeid] = report.outcome
            self.failed |= {report.nodeid} if report.failed else set()
        if report.when == "teardown":
            outcome = self.outcome.get(report.nodeid, "")
            self.cpu_s[report.nodeid] = dict(report.user_properties).get("cpu_s", 0.0)
            told = f"{self.seconds[report.nodeid]:8.2f} s {self.cpu_s[report.nodeid]:7.2f} CPU s"
            print(f"{told}  {report.nodeid} {outcome}".rstrip(), flush=True)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read has no tests to fail: its group has not passed."""
        if report.failed:
            self.failed.add(report.nodeid)

    def of(self, group: Group) -> list[str]:
        """The tests of a group that ran."""
        return [nodeid for nodeid in self.seconds if groups.of(nodeid, self.known) is group]

    def table(self) -> str:
        """A line for each group that ran."""
        lines = [f"{'group':<20} {'tests':>5} {'seconds':>8} {'budget':>7} {'CPU s':>8}"]
        for group in self.known:
            if tests := self.of(group):
                taken = sum(self.seconds[test] for test in tests)
                cpu_s = sum(self.cpu_s[test] for test in tests)
                over = "  over" if taken > group.seconds else ""
                row = f"{group.name:<20} {len(tests):>5} {taken:>8.1f} {group.seconds:>7.0f} {cpu_s:>8.1f}"
                lines.append(row + over)
        return "\n".join(lines)


def main() -> int:
    """Run what is to be run; the exit code."""
    begin = time.monotonic()
    words = set(sys.argv[1:])
    if not words <= {"--long", "ALL=1"}:
        print(__doc__)
        return 2
    try:
        known = groups.read()
    except groups.BudgetError as error:
        print(f"runner: {error}", file=sys.stderr)
        return 2
    wanted = [group for group in known if group.long == ("--long" in words)]
    keys = {group.name: group.key() for group in wanted if group.inputs}
    unchanged = [
        group
        for group in wanted
        if group.name in keys and (PASSED / keys[group.name]).exists() and "ALL=1" not in words
    ]
    for group in unchanged:
        print(f"skipped: {group.name}: passed, and nothing that it depends on has changed; ALL=1 runs it")
    run = [group for group in wanted if group not in unchanged]
    report = Report(known)
    code = call(known, run, report)
    # the cache is commitpath's from its first file on
    places.begin("host")
    PASSED.mkdir(exist_ok=True)
    for group in run:
        failed = [nodeid for nodeid in report.failed if groups.of(nodeid, known) is group]
        if group.name in keys and report.of(group) and not failed and code in ENDED:
            (PASSED / keys[group.name]).touch()
    for group in run:
        if code in ENDED and not report.of(group):
            print(f"runner: {group.name}: no test has such a name: {' '.join(group.tests)}", file=sys.stderr)
            code = 2
    print(f"{report.table()}\n{time.monotonic() - begin:.0f} s in all")
    return code


def call(known: list[Group], run: list[Group], report: Report) -> int:
    """Run the tests of groups; pytest's exit code."""
    if not run:
        return 0
    # by file: another group may have some of a folder's
    left_out = [
        f"--ignore={groups.TESTS / file}"
        for file in groups.files()
        if groups.of(file, known) not in run and not any(group.may_have(file) for group in run)
    ]
    # a board of one CPU, or a test, for each CPU, and two more for the time in which some wait: for a
    # download, a clock, a terminal, a board that another makes. A file's order of its tests is kept
    quiet = ["-W", "ignore:Module already imported so cannot be rewritten; xdist"]
    how = [
        *quiet,
        f"--numprocesses={(os.cpu_count() or 1) + 2}",
        "--dist=loadscope",
        "--no-loadscope-reorder",
    ]
    names = ",".join(group.name for group in run)
    return int(pytest.main([str(groups.TESTS), *left_out, *how, f"--queue={names}"], plugins=[report]))


if __name__ == "__main__":
    sys.exit(main())
