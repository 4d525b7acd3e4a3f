"""The manual page and the completion for bash, made from the schema and data files."""

from collections.abc import Iterable

from base.version import version
from commitpath.cells.axes import axes, run_axes
from commitpath.command_line import variables

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
  elif [ -n "${values[$name]-}" ]; then
    mapfile -t COMPREPLY < <(compgen -W "${values[$name]}" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
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
    """Return the script that completes targets, their variables, and the values of a variable."""
    takes, values = dict[str, str](), dict[str, str]()
    also = dict[str, str]()
    for axis in [*axes().values(), *run_axes().values()]:
        values[axis.variable] = " ".join(axis.choices())
        if axis.also:
            also[axis.variable], values[axis.also] = axis.also, values[axis.variable]
    for command in variables.commands():
        own, of_cell = variables.without_axes(command), variables.axes_of(command)
        takes[command] = " ".join([*own, *of_cell, *(also[name] for name in of_cell if name in also)])
        values |= {name: " ".join(entry["values"]) for name, entry in own.items() if "values" in entry}
    filled = COMPLETION.replace("TARGETS", " ".join(targets))
    return filled.replace("TAKES", quoted(takes)).replace("VALUES", quoted(values))


def quoted(words: dict[str, str]) -> str:
    """Return an array of bash, without the names that have no words."""
    return " ".join(f"[{name}]='{text}'" for name, text in words.items() if text)
