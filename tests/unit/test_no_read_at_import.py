"""A module that is imported reads no data, and a short answer loads no large library."""

import subprocess
import sys

import pytest

from base.paths import ROOT

IMPORT_ALL = """
import importlib, pkgutil, sys
read = []
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith((".py", ".pyc")):
        read.append(arguments[0])
sys.path.insert(0, ".")
names = []
for root in ("base", "model", "images", "analysis", "commitpath"):
    package = importlib.import_module(root)
    names += [found.name for found in pkgutil.walk_packages(package.__path__, f"{root}.")]
sys.addaudithook(note)
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
data = (".yml", ".yaml", ".json", ".csv", ".sql", ".j2")
# libraries read data of their own
print(len(names), [path for path in read if path.endswith(data) and ".venv" not in path])
"""


def test_no_data_is_read_at_import() -> None:
    line = [sys.executable, "-c", IMPORT_ALL]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    count, _, read = done.stdout.strip().partition(" ")
    assert int(count) > 100
    assert read == "[]"


LIGHT = """
import sys
from commitpath.commands import dispatch
assert dispatch.run(sys.argv[1:]) in (0, 2)
print(sorted({"matplotlib", "numpy", "polars"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("call", [["help"], ["new"], ["experiment", "MODE=none"], ["experiment", "MOD=wal"]])
def test_a_short_answer_loads_no_large_library(call: list[str]) -> None:
    line = [sys.executable, "-c", LIGHT, *call]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
