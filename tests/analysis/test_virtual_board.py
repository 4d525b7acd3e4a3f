"""The modules that a virtual board has by its plan were loaded, and did their work."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from analysis import stages
from analysis.checks import virtual_board
from base.paths import ROOT

SAID = {"by": "ftrace", "calls": "9120", "function": "bvec_try_merge_page", "kept_apart": "4031"}


def checked(folder: Path, planned: list[str] | None, **said: dict[str, str]) -> list[str]:
    """Why a made-up run is rejected; said: what the module says in the run, or in its twin."""
    made = synthetic.make(folder / "run")
    for part, name in (("raw", "run"), ("twin/raw", "twin")):
        (made / part / "board/modules").mkdir()
        if found := said.get(name, SAID):
            text = "".join(f"{key}={value}\n" for key, value in found.items())
            (made / part / "board/modules/bio_vectors.txt").write_text(text)
    plan = None if planned is None else {"board": {"modules": planned}}
    return virtual_board.modules_loaded(replace(stages.build(made), plan=plan))


@pytest.mark.parametrize("planned", [None, []], ids=["before there were modules", "a kernel that takes none"])
def test_a_board_without_them_is_accepted(planned: list[str] | None, tmp_path: Path) -> None:
    assert checked(tmp_path, planned, run={}, twin={}) == []


@pytest.mark.parametrize("part", ["run", "twin"])
def test_a_module_that_is_not_there_is_found(part: str, tmp_path: Path) -> None:
    (found,) = checked(tmp_path, ["bio_vectors"], **{part: {}})
    who = "the baseline run: " if part == "twin" else ""
    assert found == f"{who}raw/board/modules/bio_vectors.txt is missing: the plan has that module"


def test_two_ways_to_hook_are_not_one_board(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, ["bio_vectors"], twin={**SAID, "by": "kprobe"})
    assert found.startswith("the baseline run: bio_vectors hooks the kernel differently")


def test_a_plan_says_which_modules_a_board_has() -> None:
    from commitpath.cells.from_variables import make_cell
    from commitpath.run import plan

    virtual = {"board_kind": "virtual", "board_device": "/dev/target"}
    for kernel in ("5.10", "6.1", "6.12", "7.x"):
        document = plan.make(make_cell({"KERNEL": kernel, "PROBES": "none"}), virtual).document
        assert document["board"]["modules"] == ["bio_vectors"]


def test_a_module_that_says_nothing_ends_the_step(tmp_path: Path) -> None:
    """The board's function with another /sys, by the shell that is this host's."""
    script = (ROOT / "playbooks/board/run-cell.sh").read_text()
    (function,) = re.findall(r"^record_modules\(\) \{\n.*?^\}\n", script, re.M | re.S)
    text = f"raw={tmp_path}\n{function.replace('/sys/', f'{tmp_path}/sys/')}record_modules\n"
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/bio_vectors.ko").touch()
    parameters = tmp_path / "sys/module/bio_vectors/parameters"

    def recorded() -> int:
        return subprocess.run(
            ["sh", "-uc", text], cwd=tmp_path, check=False, stderr=subprocess.DEVNULL
        ).returncode

    assert recorded() != 0
    parameters.mkdir(parents=True)
    assert recorded() != 0
    (parameters / "by").write_text("a:b\n")
    (parameters / "calls").write_text("3\n")
    assert recorded() == 0
    assert (tmp_path / "board/modules/bio_vectors.txt").read_text() == "by=a:b\ncalls=3\n"
