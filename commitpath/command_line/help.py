"""`make help TARGET|all|man|completion`: variables of the schema and data files; manual page, completion.

`make help` alone prints help.txt, without an environment (bin/commitpath).
"""

import re
from collections.abc import Iterable

from base.errors import BadInputError
from base.paths import ROOT
from base.text import did_you_mean, filled
from base.version import version
from commitpath.cells.axes import Axis, axes, run_axes
from commitpath.command_line import variables

ENVIRONMENT = {
    "COMMITPATH_CACHE": "folder of everything built [.cache]",
    "COMMITPATH_RESULTS": "folder of the runs and their database [results]",
    "COMMITPATH_EMULATOR": "as EMULATOR: own or stock [own where it is there]",
    "COMMITPATH_SLURM": "no: make test-long without a sweep on a real Slurm, nor its packages [yes]",
    "COMMITPATH_MOBIBENCH": "a clone of Mobibench, for make test-long and bench-programs [GitHub's]",
    "COMMITPATH_TESTS": "long: make host installs what make test-long needs, too []",
    "COMMITPATH_SQLLOGICTEST": "a clone of sqllogictest, which make test-long plays whole [some of GitHub's]",
}
OTHERS = ("all", "man", "completion")


def targets() -> list[tuple[str, str]]:
    """Return (name, text) of each Makefile target with `## text`."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^([a-z-]+):.*?## (.+)$", makefile, re.MULTILINE)


def variable_lines(axis: Axis) -> list[str]:
    """Return the help of one axis: description, default, allowed values with their descriptions."""
    also = f" ({axis.also})" if axis.also else ""
    head = f"  {axis.variable + also:<17} {axis.spec['description']} [{axis.spec['default']}]"
    return [
        *filled(head, more=" " * 20),
        *filled(
            "; ".join(f"{value}: {meaning}" for value, meaning in axis.values().items()) or axis.allowed(),
            " " * 20,
            first=" " * 20,
        ),
    ]


def print_help(given: dict[str, str]) -> None:
    """Print the help on TOPIC: a target, or one of OTHERS."""
    topic, known = given.get("TOPIC", "all"), dict(targets())
    if topic not in (*known, *OTHERS):
        names = {name for axis in axes().values() for name in (axis.variable, axis.also)}
        if topic.partition("=")[0].upper() in names:
            raise BadInputError(f"help {topic}: a variable of a cell; make help experiment has its values")
        near = did_you_mean(topic, [*known, *OTHERS])
        raise BadInputError(f"help {topic}: {near}no such target; `make help all` lists them")
    if topic in known:
        print("\n".join(of_target(topic, known[topic])))
    elif topic == "all":
        print(text())
    else:
        print(page(text()) if topic == "man" else completion(known), end="")


def of_target(target: str, description: str) -> list[str]:
    """Return the help on a target: its text, its own variables, and those of a cell that it takes."""
    lines = [*filled(f"make {target}: {description}"), ""]
    if target not in variables.commands():
        return [*lines, "It takes no variables."]
    for line in variables.lines(target):
        lines += filled(line, " " * 16, first="  ")
    return [*lines, *axis_lines(set(variables.axes_of(target)))]


def axis_lines(shown: set[str]) -> list[str]:
    """Return the help of these variables of a cell, by group."""
    lines, group = list[str](), ""
    for axis in [*axes().values(), *run_axes().values()]:
        if axis.variable not in shown:
            continue
        if axis.spec["x-of"] != group:
            group = axis.spec["x-of"]
            lines += ["", f"Variables of {group}, with [default]:"]
        lines += variable_lines(axis)
    return lines


def text() -> str:
    """Return the help on everything."""
    lines = [f"commitpath {version()}: from the SQL statement to the flash", "", "Targets:"]
    for name, description in targets():
        lines += filled(description, " " * 20, first=f"  {name:<17} ")
    lines += ["", "Variables of the targets, with [default]:"]
    for command in variables.commands():
        for number, line in enumerate(variables.lines(command)):
            head = f"  {'' if number else command:<17} "
            lines += filled(line, " " * 34, first=head)
    lines += ["", "In the environment, too:"]
    for name, description in ENVIRONMENT.items():
        lines += filled(description, " " * 23, first=f"  {name:<20} ")
    lines += axis_lines({axis.variable for axis in [*axes().values(), *run_axes().values()]})
    lines += ["", "Example: make experiment FS=f2fs MODE=wal ROWS=1000 N=100"]
    return "\n".join(lines)


COMPLETION = """\
# Completion of bin/commitpath for bash: source <(bin/commitpath help completion)
_commitpath() {
  local target=${COMP_WORDS[1]} word=$2 name=
  local -A takes=(TAKES) values=(VALUES)
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'TARGETS' -- "$word")
    return
  fi
  # bash divides NAME=value at the equals sign
  if [ "$word" = = ]; then
    name=$3 word=
  elif [ "$3" = = ]; then
    name=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [ -z "$name" ]; then
    mapfile -t COMPREPLY < <(compgen -S = -W "${takes[$target]-}" -- "$word")
    compopt -o nospace
  else
    mapfile -t COMPREPLY < <(compgen -W "${values[$target $name]-${values[$name]-}}" -- "$word")
    # a name or a path, such as GRID and KERNEL=deb:…
    [ "${#COMPREPLY[@]}" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _commitpath commitpath bin/commitpath ./commitpath
"""


def page(text: str) -> str:
    """Return a manual page with the text of the help as it is."""
    whole = text.replace("\\", "\\e").replace("\n.", "\n\\&.").replace("-", "\\-")
    return (
        f'.TH COMMITPATH 1 "" "commitpath {version()}"\n.SH NAME\n'
        "commitpath \\- follow a SQLite commit from the SQL statement to the flash\n"
        ".SH SYNOPSIS\n.B make\nTARGET [NAME=value ...]\n.br\n.B bin/commitpath\n"
        f"TARGET [NAME=value ...] [\\-\\- command ...]\n.SH DESCRIPTION\n.nf\n{whole}\n.fi\n"
    )


def completion(targets: Iterable[str]) -> str:
    """Return the script that completes targets, their variables, and the values of a variable.

    values: of an axis by its name, of a command's own variable by both names.
    """
    takes, values = dict[str, str](), dict[str, str]()
    also = dict[str, str]()
    for axis in [*axes().values(), *run_axes().values()]:
        values[axis.variable] = " ".join(axis.choices())
        if axis.also:
            also[axis.variable], values[axis.also] = axis.also, values[axis.variable]
    for command in variables.commands():
        own, of_cell = variables.without_axes(command), variables.axes_of(command)
        takes[command] = " ".join([*own, *of_cell, *(also[name] for name in of_cell if name in also)])
        for name, entry in own.items():
            if words := entry.get("values") or variables.names_in(entry):
                values[f"{command} {name}"] = " ".join(words)
    words = {"TARGETS": " ".join(targets), "TAKES": quoted(takes), "VALUES": quoted(values)}
    # in one pass: a variable may have such a name
    return re.sub("|".join(words), lambda place: words[place[0]], COMPLETION)


def quoted(words: dict[str, str]) -> str:
    """Return an array of bash, without the names that have no words."""
    return " ".join(f"[{name}]='{text}'" for name, text in words.items() if text)
