"""The shipped runs: they are of cells that this tree makes, and answer the page's commands by themselves."""

import re
import shlex

import pytest
from lab import ROOT, Lab

from commitpath.database import select, store
from commitpath.sweep import sweep_plan
from commitpath.sweep.grid import expand

PAGE = ROOT / "docs/how-to/results-db.md"
FILE = "experiments/reference.tar.xz"
(SECTION,) = re.findall(r"^## Import the first runs\n(.*?)^## ", PAGE.read_text(), re.M | re.S)
COMMANDS = [tuple(shlex.split(line)) for line in re.findall(r"^    make (.*)$", SECTION, re.M)]


def variables(words: tuple[str, ...]) -> dict[str, str]:
    """Return the variables of a command of the page."""
    return dict(word.split("=", 1) for word in words)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A results folder with the shipped runs alone; not to be changed."""
    lab = Lab(tmp_path_factory.mktemp("newcomer") / "results")
    (target, *words), *_ = COMMANDS
    assert (target, words) == ("import", [f"FILE={FILE}"])
    done = lab.make("import", FILE=str(ROOT / FILE))
    assert done.returncode == 0 and done.stderr == ""
    number = len(sweep_plan.merge([expand("reference")])[0])
    assert f"{number} runs: 0 new, {number} new without files, so unverified, 0 there already" in done.stdout
    return lab


def test_until_the_import_a_command_names_it(lab: Lab) -> None:
    line = f"no run is here; `make import FILE={FILE}` brings the first ones"
    for target, *words in COMMANDS[1:]:
        assert lab.says(target, **variables(tuple(words))).endswith(line)


def test_each_run_is_of_a_cell_that_this_tree_makes(newcomer: Lab) -> None:
    with store.opened(newcomer.results / "results.sqlite", write=False) as connection:
        runs = select.load(connection)
    planned, _ = sweep_plan.merge([expand("reference")])
    assert {f"{run.cell_id}-{run.facts['repeat']}" for run in runs} == planned.keys()
    # the profiles are those of here, too
    assert [run.marks for run in runs if run.marks] == []
    assert {run.facts["status"] for run in runs} == {"ok"}
    assert not [run.facts["commit"] for run in runs if run.facts["commit"].endswith("-dirty")]


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_the_commands_of_the_page_answer(newcomer: Lab, command: tuple[str, ...]) -> None:
    target, *words = command
    out = newcomer.ok(target, **variables(tuple(words)))
    assert "¶" in out and "unverified: its files are not here" in " ".join(out.split())
    if target == "advise":
        assert "14 of 14 settings of the choice are measured" in out and "Because, for each" in out
    else:
        assert re.search("[1-9][0-9]* matched cells$", out, re.M)
