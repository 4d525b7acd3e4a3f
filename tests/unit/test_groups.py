"""budgets.yml: each test is in a group, a group has a budget, and is skipped only where nothing changed."""

import subprocess
from pathlib import Path

import groups
import pytest

FOLDERS = (
    "analysis, bench, board, cases, driver, flash, inspect, linters, mutations, papers, probes, sqlitekv, "
    "ssl, sweep, unit"
)
WHOLE = f"all:\n  tests: [{FOLDERS}]\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (WHOLE, "all: seconds is missing"),
        (f"{WHOLE}  seconds: soon\n", "all: seconds is missing"),
        (f"{WHOLE}  seconds: 1\n  second: 2\n", "all: second is not a word of a group's"),
        ("unit:\n  tests: [unit]\n  seconds: 1\n", "tests/analysis/.* is in no group; a group has a budget"),
        (f"{WHOLE}  seconds: 1\nmore:\n  tests: [nothing]\n  seconds: 1\n", "more: no test is in nothing"),
    ],
)
def test_a_test_without_a_budget_is_an_error(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "budgets.yml").write_text(content)
    with pytest.raises(groups.BudgetError, match=f"budgets.yml: {says}"):
        groups.read(tmp_path / "budgets.yml")


def test_two_files_of_one_name_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pytest imports a file by its name alone: the tests of the second of two are not run."""
    monkeypatch.setattr(groups, "files", lambda: iter(["driver/test_a.py", "unit/test_a.py"]))
    with pytest.raises(groups.BudgetError, match=r"unit/test_a.py: tests/driver/test_a.py has its name"):
        groups.read()


def test_the_longest_path_decides() -> None:
    known = [groups.Group("all", ("unit",), 1), groups.Group("one", ("unit/test_a.py",), 1, each=True)]
    assert groups.of("tests/unit/test_b.py::test", known) is known[0]
    assert groups.of("tests/unit/test_a.py::test", known) is known[1]
    assert groups.of("tests/united/test_a.py::test", known) is None
    known.append(groups.Group("named", ("unit/test_a.py::slow",), 1))
    assert groups.of("tests/unit/test_a.py::test[slow]", known) is known[2]
    assert groups.of("tests/unit/test_a.py::test[quick]", known) is known[1]
    assert groups.of("tests/unit/test_slow.py::test", known) is known[0]
    assert groups.of("tests/unit/test_a.py", known) is known[1]
    assert known[2].may_have("unit/test_a.py") and not known[2].may_have("unit/test_b.py")
    assert known[0].unit("tests/unit/test_b.py::test") == "tests/unit/test_b.py"
    assert known[1].unit("tests/unit/test_a.py::test") == "tests/unit/test_a.py::test"


def test_a_key_follows_what_a_group_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content, names, what is not committed yet, Debian's packages; not what it does not depend on."""
    monkeypatch.setattr(groups, "ROOT", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tests/unit").mkdir(parents=True)
    (tmp_path / "probes").mkdir()
    group = groups.Group("some tests", ("unit",), 1, inputs=("probes",))
    keys = [group.key()]
    assert keys[0].startswith("some-tests-")

    def changes() -> bool:
        keys.append(group.key())
        return keys[-1] not in keys[:-1]

    (tmp_path / "README.md").write_text("a")
    assert not changes()
    for path, content in {
        "probes/a.c": "a",
        "tests/unit/test_a.py": "b",
        "requirements.txt": "c",
        "probes/b.c": "a",
    }.items():
        (tmp_path / path).write_text(content)
        assert changes(), path
    (tmp_path / "probes/a.c").chmod(0o755)
    assert changes()
    (tmp_path / "probes/a.c").unlink()
    assert changes()
    monkeypatch.setattr(groups, "machine", lambda: b"another")
    assert changes()
