"""Parse the words of a call: TARGET [NAME=value...] [-- command...], or --of-make NAMES TARGET."""

import os
import shlex

from base.errors import BadInputError

# The variable for the words after `--`.
COMMAND = "CMD"


def read(arguments: list[str]) -> tuple[str, dict[str, str]]:
    """Return the target and its variables by name. Raises BadInputError.

    --of-make NAMES TARGET is a call by the Makefile, with the values in the environment and make's `$$`
    replaced. Other variables of the environment, such as N, are no settings.
    """
    if arguments[:1] == ["--of-make"]:
        _, names, target = arguments
        # processes of the command have the user's environment
        return target, {name: os.environ.pop(name, "") for name in names.split()}
    target, *words = arguments or ["help"]
    if target in ("-h", "--help"):
        target = "help"
    end = words.index("--") if "--" in words else len(words)
    given: dict[str, str] = {}
    for word in words[:end]:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadInputError(f"{word}: a setting is NAME=value")
        if name in given:
            raise BadInputError(f"{name} is given twice")
        given[name] = value
    if end < len(words):
        command = words[end + 1 :]
        if COMMAND in given:
            raise BadInputError(f"{COMMAND} and -- both give a command; give one of them")
        if len(command) == 1 and len(command[0].split()) > 1:
            raise BadInputError(
                "-- takes a program and its arguments, each a word; "
                f"a line for sh is {COMMAND}={shlex.quote(command[0])}"
            )
        given[COMMAND] = shlex.join(command)
    return target, given
