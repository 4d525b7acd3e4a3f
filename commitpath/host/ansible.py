"""Ansible, called for one playbook at a time."""

import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base import scratch
from base.data import load_yaml
from base.errors import BadInputError, LabError
from base.paths import EXPERIMENTS, ROOT

PLAYBOOKS = ROOT / "playbooks"
# Commands of the inventory that are run on the host, such as labgrid's: to get the board from whoever
# shares it out, to switch it off and on, to give it back.
ACQUIRE, POWER_CYCLE, RELEASE = HOOKS = ("board_acquire", "board_power_cycle", "board_release")
# What of an entry is commitpath's; Ansible's own variables are called otherwise.
OWN = ("board_kind", "board_device", "board_device_bytes", "board_limits", *HOOKS)
# A play's hosts are a pattern, which may name several: what it takes for one board, and no group of boards.
NAME = re.compile("(?!(?:all|boards|ungrouped)$)[A-Za-z0-9][A-Za-z0-9_.-]*")
# A template puts it into the line of a command.
DEVICE = re.compile("/[A-Za-z0-9_.:/@+=-]+")
# Say what would be done, and do nothing; -v: with what the scripts say.
CHECK = ("--check", "--diff", "-v")


class UnreachableError(LabError):
    """SSH does not reach a board; playbook: which found it so."""

    def __init__(self, text: str, playbook: str = "") -> None:
        super().__init__(text)
        self.playbook = playbook


def inventory() -> dict[str, dict[str, Any]]:
    """Boards by name, with their variables, from every file of playbooks/inventory; what all boards
    have (boards: vars:) with each, as Ansible has it."""
    hosts: dict[str, dict[str, Any]] = {}
    every: dict[str, Any] = {}
    for path in sorted((PLAYBOOKS / "inventory").glob("*.yml")):
        try:
            group = load_yaml(path)["boards"]
            found, common = group["hosts"].items(), group.get("vars") or {}
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInputError(f"{path}: not an inventory with boards: hosts: ({error})") from error
        if odd := [name for name in dict(found) if not (isinstance(name, str) and NAME.fullmatch(name))]:
            raise BadInputError(
                f"{path}: boards.hosts.{odd[0]!r}: a board's name has letters, digits, '.', '_' and '-', "
                "and is no group of Ansible's (all, boards, ungrouped)"
            )
        for name, variables in (*((f"hosts.{name}", own) for name, own in found), ("vars", common)):
            if not isinstance(variables, dict | None):
                raise BadInputError(f"{path}: boards.{name}: {variables!r} is no mapping of variables")
        # Ansible would merge the two, and another partition might be meant than the one that is told here
        if twice := sorted(str(name) for name in hosts.keys() & dict(found)):
            raise BadInputError(f"{path}: {', '.join(twice)} is in another file of playbooks/inventory, too")
        hosts |= {name: variables or {} for name, variables in found}
        every |= common
    return {name: every | variables for name, variables in hosts.items()}


def board(name: str) -> dict[str, Any]:
    """A board's variables; BadInputError names the boards there are."""
    boards = inventory()
    if name not in boards:
        raise BadInputError(f"BOARD={name}: not in playbooks/inventory, which has {', '.join(boards)}")
    needed = {"board_kind", "board_device"} | (
        {"board_device_bytes"} if boards[name].get("board_kind") == "lab" else set()
    )
    lacking = sorted(needed - set(boards[name]))
    if lacking or boards[name]["board_kind"] not in ("virtual", "lab"):
        raise BadInputError(
            f"BOARD={name}: its inventory entry needs {', '.join(lacking) or 'board_kind virtual or lab'}"
        )
    if unknown := sorted({own for own in map(str, boards[name]) if own.startswith("board_")} - {*OWN}):
        raise BadInputError(
            f"BOARD={name}: its inventory entry has {', '.join(unknown)}; there are {', '.join(OWN)}"
        )
    device = boards[name]["board_device"]
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise BadInputError(
            f"BOARD={name}: board_device is {device!r} in its inventory entry, not a path from / on of "
            "letters, digits and . _ : / @ + = -"
        )
    size = boards[name].get("board_device_bytes")
    if boards[name]["board_kind"] == "lab" and (type(size) is not int or not 0 < size < 2**63):
        raise BadInputError(
            f"BOARD={name}: board_device_bytes is {size!r} in its inventory entry, "
            "not a whole number of bytes from 1 on"
        )
    check_hooks(name, boards[name])
    limits(name, boards[name])
    return boards[name]


def check_hooks(name: str, entry: Mapping[str, Any]) -> None:
    """BadInputError where a hook of an inventory's entry is no command."""
    for hook in (hook for hook in HOOKS if hook in entry):
        try:
            words = shlex.split(entry[hook])
        except (ValueError, AttributeError, TypeError) as error:
            raise BadInputError(f"BOARD={name}: {hook} is {entry[hook]!r}, no command ({error})") from error
        if not entry[hook].isprintable():
            raise BadInputError(f"BOARD={name}: {hook} is {entry[hook]!r}; it is one line of text")
        if not words:
            raise BadInputError(f"BOARD={name}: {hook} is empty; it is a command, or left out")


def limits(name: str, entry: Mapping[str, Any]) -> dict[str, float]:
    """What may happen on a lab board beside a run: experiments/limits.yml, or as its entry has it."""
    known = {limit: one["limit"] for limit, one in load_yaml(EXPERIMENTS / "limits.yml").items()}
    own = entry.get("board_limits", {})
    if not isinstance(own, dict):
        raise BadInputError(f"BOARD={name}: board_limits is {own!r}, no mapping of {', '.join(known)}")
    for limit, value in own.items():
        if limit not in known:
            raise BadInputError(f"BOARD={name}: board_limits has {limit}; there are {', '.join(known)}")
        if type(value) not in (int, float) or not (value >= 0 and math.isfinite(value)):
            raise BadInputError(f"BOARD={name}: board_limits.{limit} is {value!r}, no number from 0 on")
    return {**known, **own}


def play(
    playbook: str, variables: Mapping[str, Any], log: Path, *options: str, limit: float | None = None
) -> list[str]:
    """Run a playbook; LabError carries a failed task's words. With CHECK: what the tasks said.

    log: where the output of a play that fails is kept, with this process's id in the name.
    limit: wall seconds after which it counts as hung. A board that does not answer at all
    ends it sooner (images/ssh.py, playbooks/ansible.cfg).
    """
    # its sockets and its temporary files: a socket's name has 107 bytes at most
    with scratch.temporary("ansible") as home:
        output, errors, code = called(playbook, variables, options, limit, str(home))
    # for Ansible a playbook for nobody succeeds
    nobody = "no hosts matched" in output + errors
    if not (code is None or nobody or code):
        return said(output)
    # a sweep's jobs play the same playbooks at the same time
    log = log.with_stem(f"{log.stem}-{os.getpid()}")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(output + errors)
    if code is None:
        raise LabError(f"{playbook}: no end within {limit:.0f} s (all of it: {log})")
    if nobody:
        raise LabError(
            f"{playbook}: playbooks/inventory has no board {variables.get('board')} (all of it: {log})"
        )
    unreachable = re.search(r"^fatal: .*: UNREACHABLE! =>", output, re.M)
    text = f"{playbook}: {failure(output) or last_line(errors)} (all of it: {log})"
    raise UnreachableError(text, playbook) if unreachable else LabError(text)


def called(
    playbook: str, variables: Mapping[str, Any], options: Sequence[str], limit: float | None, home: str
) -> tuple[str, str, int | None]:
    """What ansible-playbook prints, what it says on stderr, and its exit code; None: it hung."""
    environment = {
        **os.environ,
        "ANSIBLE_HOME": home,
        "ANSIBLE_LOCAL_TEMP": home,
        "ANSIBLE_SSH_CONTROL_PATH_DIR": home,
        "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
        "ANSIBLE_CALLBACK_FORMAT_PRETTY": "false",
        "LC_ALL": "C.UTF-8",
    }
    command = [
        sys.executable,
        # its script's first line cannot name an interpreter with a quote in its path
        *("-m", "ansible.cli.playbook"),
        *options,
        "--extra-vars",
        # what is bytes is a file's content, which the board gets as one
        json.dumps({name: value for name, value in variables.items() if not isinstance(value, bytes)}),
        str(PLAYBOOKS / playbook),
    ]
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        cwd=PLAYBOOKS,
    ) as process:
        hung = False
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            hung = True
        finally:
            # a kill would leave its workers behind
            process.terminate()
        if hung:
            output, errors = process.communicate()
    return output, errors, None if hung else process.returncode


def said(output: str) -> list[str]:
    """What scripts printed, a line each, in the order of their tasks; only -v has Ansible show it."""
    results = re.findall(r"^(?:ok|changed): \[.*?\] => (\{.*\})$", output, re.M)
    return [line for result in results for line in json.loads(result).get("stdout_lines", [])]


def failure(output: str) -> str | None:
    """The failed task and what it said, from the default callback's output."""
    task = ""
    for line in output.splitlines():
        if match := re.match(r"TASK \[(.*)\]", line):
            task = match[1]
        if match := re.match(r"(?:fatal|failed): .*? => (\{.*\})$", line):
            result = json.loads(match[1])
            said = result.get("stderr") or result.get("stdout") or str(result.get("msg"))
            return f"{task}: {cause(said)}"
    return None


def cause(text: str) -> str:
    """The line that says why: some programs begin with it and mark it, others end with it.

    Of a script of ours that names itself in each line, all of them.
    """
    marked = [line.strip() for line in text.splitlines() if line.strip().startswith("Error:")]
    if marked:
        return marked[0]
    last = last_line(text)
    if ours := re.match(r"[a-z]+-[a-z]+: ", last):
        said = [line.strip() for line in text.splitlines() if line.strip().startswith(ours[0])]
        return ours[0] + "; ".join(line.removeprefix(ours[0]) for line in said)
    return last


def last_line(text: str) -> str:
    """The last line that says something."""
    # ssh's good-bye, and mount's hint where else to look
    empty = ("closed.", "dmesg(1) may have more information")
    lines = [line.strip() for line in text.splitlines() if not any(word in line for word in empty)]
    lines = [line for line in lines if line]
    return lines[-1] if lines else "no output"
