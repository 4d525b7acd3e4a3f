"""SQLite's own tests with the log's VFS as the default one: what passes without it passes with it, but for
the differences of suite.yml.

`make -C tests/ssl suite` builds SQLite's testfixture. Each file of tests is executed without the VFS, with
it, and with a log for each database, in folders of its own.
"""

import functools
import os
import re
import subprocess
import warnings
from collections import Counter
from pathlib import Path

import pytest
import yaml
from made import make

from images import artifacts

FOLDER = Path(__file__).resolve().parent
SUITE = FOLDER.parents[1] / "workloads/build/test/ssl/suite"
LISTED = yaml.safe_load((FOLDER / "suite.yml").read_text(encoding="utf-8"))
PASSED = re.compile(r"^(\S+)\.\.\. Ok$", re.MULTILINE)
# Until no call fails: how many there are is not the same with another VFS.
EACH_CALL = re.compile(r"[-.](oom|ioerr|cantopen|full|shmerr|interrupt|fault|transient|persistent)")
NUMBER = re.compile(r"\d+")
CPU_SECONDS = 120


@functools.cache
def fixture() -> Path:
    with artifacts.locked(SUITE):
        make(FOLDER, "suite")
    return SUITE / "testfixture"


def passed(message: str) -> Counter[str]:
    """Tests that pass, by their names without numbers: these may be of the time or drawn."""
    names = (name for name in PASSED.findall(message) if not EACH_CALL.search(name))
    return Counter(NUMBER.sub("#", name) for name in names)


def run(file: str, vfs: str | None, folder: Path) -> Counter[str]:
    """Those of a file's tests that pass."""
    folder.mkdir()
    test = SUITE / "source/test" / f"{file}.test"
    message = subprocess.run(
        ["sh", "-c", f'ulimit -t {CPU_SECONDS}; exec "$0" "$1"', fixture(), test],
        cwd=folder,
        env={**os.environ, **({"SUITE_VFS": vfs} if vfs else {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert message.returncode != -9, f"{file}: no end within {CPU_SECONDS} s of CPU"
    return passed(message.stdout.decode(errors="replace"))


def listed(vfs: str, file: str) -> int:
    reasons = LISTED["differences"][vfs]
    assert set(reasons) <= set(LISTED["reasons"])
    return sum(files.get(file, 0) for files in reasons.values())


def compare(vfs: str, file: str, differ: Counter[str]) -> None:
    """Fails if more tests differ than are listed; less is a warning."""
    number, expected = differ.total(), listed(vfs, file)
    if number < expected:
        warnings.warn(f"{file}, {vfs}: suite.yml lists {expected}, and {number} differ", stacklevel=1)
    assert number <= expected, f"{file}, {vfs}: passed without the VFS alone: {dict(differ)}"


@pytest.mark.parametrize("file", LISTED["files"].split())
def test_what_passes_without_the_vfs_passes_with_it(file: str, tmp_path: Path) -> None:
    plain = run(file, None, tmp_path / "plain")
    assert plain
    for vfs in LISTED["differences"]:
        compare(vfs, file, plain - run(file, vfs, tmp_path / vfs))


def test_one_that_is_not_listed_fails() -> None:
    """And one that passes by now is a warning."""
    names = (
        "alter-5.2... Ok",
        "alter-5.3... Ok",
        "alter-6.1... Ok",
        "alter-7-oom-transient.3... Ok",
        "alter-8...",
    )
    all_of_them = passed("\n".join(names))
    assert all_of_them == {"alter-#.#": 3} and listed("logged", "alter") == 2
    compare("logged", "alter", Counter({"alter-#.#": 2}))
    with pytest.raises(AssertionError, match=r"alter, logged: passed without the VFS alone: .*: 3}"):
        compare("logged", "alter", all_of_them)
    with pytest.warns(UserWarning, match=r"suite.yml lists 2, and 0 differ"):
        compare("logged", "alter", Counter())
