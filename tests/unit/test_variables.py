"""What a command takes is in one table, which its check, its help and the command itself follow."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import export
from base.errors import BadInputError
from commitpath.cells import grid, samples
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.command_line import help, variables
from commitpath.commands import axis_runs, dispatch
from commitpath.papers.reproduce import PASSED
from commitpath.papers.request import MOST, PLACE
from commitpath.reporting import candidates, choice, limits
from commitpath.results import metrics
from commitpath.sweep import drive
from model.cell import SAMPLED

# where DRY_RUN is near to a variable
NEAR = r"(did you mean RUN\? )?"


def values(command: str, name: str) -> set[str]:
    """What a variable may be."""
    entry = variables.without_axes(command)[name]
    assert entry
    return set(entry["values"])


def test_each_commands_own_words_are_the_tables() -> None:
    assert values("trace-export", "FORMAT") == {*export.FORMATS, "all"}
    assert values("bisect", "AXIS") == set(axis_runs.AXES)
    assert values("advise", "SURVIVE") == set(limits.SURVIVE)
    assert {name.lower() for name in variables.axes_of("advise")} == {*axes()} - {
        *(*choice.CHOSEN, *candidates.CUTS, *SAMPLED)
    }
    assert set(variables.without_axes("sweep")) == {
        *drive.OPTIONS,
        *samples.VARIABLES,
        "EXPECT",
        "REFERENCE",
        "EMULATOR",
    }
    assert set(variables.without_axes("reproduce")) == {
        *("PAPER", *PLACE, "FIGURE", "WHERE", *MOST, "ROBUST", *samples.VARIABLES, *PASSED, "EMULATOR")
    }


def test_the_name_of_a_data_file_may_be_in_any_case() -> None:
    for command, given, listed in (
        ("reproduce", {"PAPER": "APSYS17"}, {"PAPER": "apsys17"}),
        ("sweep", {"GRID": "Quick LEDGER"}, {"GRID": "quick ledger"}),
        ("figure", {"NAME": "QUICK", "GRID": "QUICK/a.yml"}, {"NAME": "quick", "GRID": "QUICK/a.yml"}),
        ("crash-replay", {"CASE": "Wal-with-nobarrier"}, {"CASE": "wal-with-nobarrier"}),
    ):
        assert variables.check(command, given) == listed


def test_what_has_no_text_is_in_the_schema() -> None:
    for command in variables.commands():
        for name, entry in variables.without_axes(command).items():
            assert entry["what"], name


@pytest.mark.parametrize("command", variables.commands())
def test_an_unknown_variable_is_refused(command: str) -> None:
    with pytest.raises(
        BadInputError, match=rf"DRY_RUN: unknown variable; {NEAR}make {command} takes "
    ) as error:
        variables.check(command, {"DRY_RUN": "yes"})
    for name in variables.without_axes(command):
        assert name in str(error.value)
    assert (f"those of a cell (make help {command} lists them)" in str(error.value)) == bool(
        variables.axes_of(command)
    )


def test_help_has_every_variable() -> None:
    text = help.text()
    for command in variables.commands():
        shown = "test" if command == "host" else command
        for name in variables.without_axes(command):
            assert re.search(rf"^ +({shown} +)?{name} ", text, re.M), name
    for name in (*help.ENVIRONMENT, *(axis.variable for axis in axes().values())):
        assert name in text
    assert re.search(r"^  plan +the variables of a cell, below$", text, re.M)


def test_the_short_help_fits_a_terminal_and_its_examples_are_accepted() -> None:
    lines = Path(help.__file__).with_name("help.txt").read_text().splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) < 80
    examples = [shlex.split(line.split("   ")[0]) for line in map(str.strip, lines) if "=" in line]
    commands = [words for words in examples if words[0] == "make"]
    assert len(commands) > 8
    for _, target, *settings in commands:
        variables.check(target, dict(setting.split("=", 1) for setting in settings))


def test_the_long_help_fits_a_terminal() -> None:
    every = [line for name, text in help.targets() for line in help.of_target(name, text)]
    assert max(map(len, [*every, *help.text().splitlines()])) <= 80


def test_help_on_one_target(capsys: pytest.CaptureFixture[str]) -> None:
    help.print_help({"TOPIC": "sweep"})
    text = capsys.readouterr().out
    assert text.startswith("make sweep: ")
    assert re.search(r"^  JOBS ", text, re.M)
    assert "JOURNAL_MODE (MODE)" in text
    assert "SURVIVE" not in text
    with pytest.raises(BadInputError, match=r"help swep: did you mean sweep\? no such target; "):
        help.print_help({"TOPIC": "swep"})
    for name in ("MODE", "fs=f2fs"):
        with pytest.raises(BadInputError, match=f"^help {name}: a variable of a cell; make help experiment"):
            help.print_help({"TOPIC": name})
    # BOARD is a variable, too
    help.print_help({"TOPIC": "board"})
    assert capsys.readouterr().out.startswith("make board: ")


def test_completion_of_targets_variables_and_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As bash calls it: it divides MODE=w into three words."""
    (tmp_path / "mine.yml").touch()
    calls: dict[str, set[str]] = {
        "expe": {"experiment"},
        "experiment MO": {"MODE=", "MOUNT_OPTIONS="},
        "experiment MODE = w": {"wal"},
        "results FS": set(),
        "sweep FS =": {*axes()["fs"].choices()},
        # of each target its own
        "table FORMAT =": {"csv", "latex", "markdown"},
        "trace-export FORMAT = p": {"perfetto", "parquet"},
        "bisect AXIS =": {"sqlite", "kernel"},
        "trend AXIS = s": set(),
        "trend VALUES": {"VALUES="},
        "inspect RUN =": {"mine.yml"},
        "advise RUN =": {"yes"},
        "sweep GRID = kernels": {"kernels", "kernels-apsys17", "kernels-off"},
        "sweep GRID = m": {"mine.yml"},
        "reproduce PAPER = ss": {"ssl"},
    }
    help.print_help({"TOPIC": "completion"})
    script = capsys.readouterr().out + "compopt() { :; }\n"
    for number, words in enumerate(calls):
        given = words.split()
        last, before = (given[-1], ["commitpath", *given][-2])
        script += f"COMP_WORDS=(commitpath {words}) COMP_CWORD={len(given)}\n"
        script += f"_commitpath commitpath '{last}' '{before}'; echo {number} \"${{COMPREPLY[*]}}\"\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    answers = [set(line.split()[1:]) for line in done.stdout.splitlines()]
    assert dict(zip(calls, answers, strict=True)) == calls


def test_the_manual_page_has_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    help.print_help({"TOPIC": "man"})
    text = capsys.readouterr().out
    assert text.startswith(".TH COMMITPATH 1")
    assert "JOURNAL_MODE (MODE)" in text.replace("\\-", "-")
    # a line of the help that begins with a point would be a request
    assert all(
        line.startswith((".TH", ".SH", ".B", ".br", ".nf", ".fi"))
        for line in re.findall(r"^\..*", text, re.M)
    )


def test_help_names_what_the_environment_is_asked_for() -> None:
    folder = Path(help.__file__).parents[2]
    code = "".join(
        path.read_text()
        for part in ("base/**/", "commitpath/**/", "images/**/", "tests/bench/", "tests/")
        for path in folder.glob(f"{part}*.py")
    )
    asked = set(re.findall(r"""environ[^\n]*"(COMMITPATH_[A-Z]+)""", code))
    assert asked == set(help.ENVIRONMENT)


def test_a_short_name_is_the_axis() -> None:
    given = {"MODE": "wal", "N": "5", "AUTOCHECKPOINT": "10"}
    own = {"JOURNAL_MODE": "wal", "N": "5", "WAL_AUTOCHECKPOINT": "10"}
    assert variables.by_their_names(given) == variables.by_their_names(own) == own
    with pytest.raises(BadInputError, match="MODE and JOURNAL_MODE are one variable"):
        variables.by_their_names({"MODE": "wal", "JOURNAL_MODE": "delete"})
    both = "MODE and JOURNAL_MODE are one variable"
    assert variables.as_typed(both, ["MODE=wal", "JOURNAL_MODE=delete"]) == both
    assert variables.as_typed("JOURNAL_MODE=x", ["MODE=x"]) == "MODE=x"
    assert "JOURNAL_MODE (MODE)" in help.text()


@pytest.mark.parametrize("text", ["1e5", "+100000"])
def test_a_whole_number_may_be_written_by_its_power_of_ten(text: str) -> None:
    assert make_cell({"ROWS": text}).rows == 100_000
    assert "; 1e3 is 1000" in axes()["rows"].allowed()


def test_a_commands_own_words_may_be_in_any_case() -> None:
    given = {"AXIS": "SQLite", "GOOD": "NEWEST", "METRIC": "kib"}
    assert variables.check("bisect", given) == {**given, "AXIS": "sqlite"}
    for command in variables.commands():
        for name, entry in variables.without_axes(command).items():
            for value in (values := entry.get("values", [])):
                assert variables.check(command, {name: value.upper()}) == {name: value}
            assert len({value.casefold() for value in values}) == len(values)


def check(command: str, **given: str) -> None:
    variables.check(command, given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: check("experiment", JORNAL="wal"),
            r"^JORNAL: unknown variable; did you mean JOURNAL_MODE\? ",
        ),
        (lambda: make_cell({"SYNCHRONUS": "full"}), r"variable; did you mean SYNCHRONOUS\? it is one of "),
        (lambda: check("watch", MODE="wal"), "^MODE: make watch does not take it; it takes CMD, "),
        (lambda: check("figure", SEEDS="2"), "^SEEDS: make figure does not take it; it takes GRID, "),
        (lambda: check("advise", SEEDS="2"), "^SEEDS: make advise does not take it; "),
        (
            lambda: check("advise", MODE="wal"),
            "^MODE: make advise tries values of its own; it takes SURVIVE, ",
        ),
        (lambda: make_cell({"PROBES": "bio,blok"}), r"^PROBES=bio,blok: did you mean block\? PROBES is "),
        (lambda: check("diff", FORCE="2"), "^FORCE=2: FORCE is 0, 1$"),
        (
            lambda: check("trace-export", FORMAT="perfeto"),
            r"^FORMAT=perfeto: did you mean perfetto\? FORMAT is ",
        ),
        (
            lambda: grid.checked({"devise": "emmc"}),
            r"^devise: unknown axis; did you mean device\? it is one of ",
        ),
        (lambda: check("bisect", AXIS="kernal"), r"^AXIS=kernal: did you mean kernel\? AXIS is "),
        (
            lambda: make_cell({"DEVICE": "sd"}),
            r"^DEVICE=sd: DEVICE is one of \d+ \(`make help experiment` lists",
        ),
        (
            lambda: metrics.check("foo"),
            r"^METRIC=foo: METRIC is one of \d+ \(`make help figure` lists them\)$",
        ),
        (
            lambda: grid.load("quik"),
            r"grid; did you mean quick\? it is one of \d+ \(`ls experiments/grids` lists",
        ),
        (lambda: check("sweep", mode="wal"), r"^mode: unknown variable; did you mean MODE\?"),
    ],
)
def test_a_slip_is_asked_about_wherever_a_name_is_given(call: Callable[[], object], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        call()


def test_a_schema_that_cannot_be_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise BadInputError("schema.yml:3: mapping values are not allowed here")

    for module in (variables, dispatch.variables_table):
        monkeypatch.setattr(module, "axes", broken)
    assert dispatch.run(["results"]) == 2
    assert capsys.readouterr().err == "commitpath: schema.yml:3: mapping values are not allowed here\n"
