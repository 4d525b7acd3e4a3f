"""Read and check the inventory of boards; run a playbook with Ansible, and find a failed task's message."""

import json
import math
import os
import re
import secrets
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base import scratch
from base.data import load_yaml
from base.errors import BadInputError, LabError
from base.paths import EXPERIMENTS, PYTHON, ROOT

PLAYBOOKS = ROOT / "playbooks"
# Commands of the inventory, run on the host, that reserve a board, power-cycle it and release it, such as
# labgrid's.
ACQUIRE, POWER_CYCLE, RELEASE = HOOKS = ("board_acquire", "board_power_cycle", "board_release")
# commitpath's variables of an entry; Ansible's have other prefixes.
OWN = ("board_kind", "board_device", "board_device_bytes", "board_limits", *HOOKS)
# A play's hosts are a pattern; this matches a single board and no group of boards.
NAME = re.compile("(?!(?:all|boards|ungrouped)$)[A-Za-z0-9][A-Za-z0-9_.-]*")
# A template inserts it into a command line.
DEVICE = re.compile("/[A-Za-z0-9_.:/@+=-]+")
# Ansible's temporary files on a lab board: its default is in root's home, on the board's disk, which may be
# full, read-only, or the one that is measured.
BOARD_TEMPORARY = "/dev/shm"
# What Ansible reports as unreachable although the board answers, or this host fails before it connects.
ANSWERED = re.compile(
    "Permission denied|Host key verification failed|HOST IDENTIFICATION HAS CHANGED|Authentication failure|"
    "Too many authentication failures|Unable to negotiate|Bad owner or permissions|Bad configuration option|"
    "Bad port|too long|"
    "Failed to create temporary directory|No space left on device"
)
# Settings of a user's own Ansible: its inventory may have another machine by a board's name, and output in
# another form is not understood here. PYTHON*: for another Python.
NOT_PASSED = re.compile(
    "ANSIBLE_(INVENTORY.*|STDOUT_CALLBACK|CALLBACK.*|DISPLAY_.*|FORCE_COLOR|VERBOSITY|DEBUG)|PYTHON.*"
)
# The virtual board needs none of them.
NOT_PASSED_VIRTUAL = re.compile("ANSIBLE_.*|PYTHON.*")
# Print what would be done, with the scripts' output (-v), and do nothing.
CHECK = ("--check", "--diff", "-v")


class UnreachableError(LabError):
    """SSH does not reach a board. playbook: the one that failed."""

    def __init__(self, text: str, playbook: str = "") -> None:
        super().__init__(text)
        self.playbook = playbook


def inventory() -> dict[str, dict[str, Any]]:
    """Return boards and their variables from all files of playbooks/inventory, with the common ones."""
    hosts: dict[str, dict[str, Any]] = {}
    every: dict[str, Any] = {}
    # Ansible reads both, and would merge them
    for path in sorted((PLAYBOOKS / "inventory").glob("*.y*ml")):
        try:
            group = load_yaml(path)["boards"]
            entries, common = dict(group["hosts"].items()), group.get("vars") or {}
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInputError(f"{path}: not an inventory with boards: hosts: ({error})") from error
        if odd := [name for name in entries if not (isinstance(name, str) and NAME.fullmatch(name))]:
            raise BadInputError(
                f"{path}: boards.hosts.{odd[0]!r}: a board's name has letters, digits, '.', '_' and '-', "
                "and is not a group of Ansible's (all, boards, ungrouped)"
            )
        for name, variables in (*((f"hosts.{name}", entries[name]) for name in entries), ("vars", common)):
            if not isinstance(variables, dict | None):
                raise BadInputError(f"{path}: boards.{name}: {variables!r} is not a mapping of variables")
        # Ansible would merge the two, perhaps with another partition than the one that is checked here
        if twice := sorted(hosts.keys() & entries):
            raise BadInputError(f"{path}: {', '.join(twice)} is in another file of playbooks/inventory, too")
        hosts |= {name: variables or {} for name, variables in entries.items()}
        every |= common
    return {name: every | variables for name, variables in hosts.items()}


def board(name: str) -> dict[str, Any]:
    """Return a board's checked variables. Raises BadInputError."""
    boards = inventory()
    if name not in boards:
        raise BadInputError(f"BOARD={name}: not in playbooks/inventory, which has {', '.join(boards)}")
    entry = boards[name]
    is_lab = entry.get("board_kind") == "lab"
    needed = {"board_kind", "board_device", *(["board_device_bytes"] if is_lab else [])}
    lacking = sorted(needed - set(entry))
    if lacking or entry["board_kind"] not in ("virtual", "lab"):
        raise BadInputError(
            f"BOARD={name}: its inventory entry needs {', '.join(lacking) or 'board_kind virtual or lab'}"
        )
    if unknown := sorted({key for key in map(str, entry) if not key.startswith("ansible_")} - {*OWN}):
        raise BadInputError(
            f"BOARD={name}: its inventory entry has {', '.join(unknown)}; there are {', '.join(OWN)} and "
            "Ansible's, which begin with ansible_"
        )
    device = entry["board_device"]
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise BadInputError(
            f"BOARD={name}: board_device is {device!r} in its inventory entry, not a path from / on of "
            "letters, digits and . _ : / @ + = -"
        )
    size = entry.get("board_device_bytes")
    if is_lab and (type(size) is not int or not 0 < size < 2**63):
        raise BadInputError(
            f"BOARD={name}: board_device_bytes is {size!r} in its inventory entry, "
            "not a whole number of bytes from 1 on"
        )
    check_hooks(name, entry)
    limits(name, entry)
    return entry


def check_hooks(name: str, entry: Mapping[str, Any]) -> None:
    """Refuse a hook of an inventory's entry that is not a command."""
    for hook in (hook for hook in HOOKS if hook in entry):
        where = f"BOARD={name}: {hook} is {entry[hook]!r}"
        try:
            words = shlex.split(entry[hook])
        except (ValueError, AttributeError, TypeError) as error:
            raise BadInputError(f"{where}, not a command ({error})") from error
        if not entry[hook].isprintable():
            raise BadInputError(f"{where}; it is one line of text")
        if not words:
            raise BadInputError(f"BOARD={name}: {hook} is empty; it is a command, or left out")


def limits(name: str, entry: Mapping[str, Any]) -> dict[str, float]:
    """Return the limits of other activity on a lab board: experiments/limits.yml, with those of its entry."""
    defaults = {limit: item["limit"] for limit, item in load_yaml(EXPERIMENTS / "limits.yml").items()}
    where, of_board = f"BOARD={name}: board_limits", entry.get("board_limits", {})
    if not isinstance(of_board, dict):
        raise BadInputError(f"{where} is {of_board!r}, not a mapping of {', '.join(defaults)}")
    for limit, value in of_board.items():
        if limit not in defaults:
            raise BadInputError(f"{where} has {limit}; there are {', '.join(defaults)}")
        if type(value) not in (int, float) or not (value >= 0 and math.isfinite(value)):
            raise BadInputError(f"{where}.{limit} is {value!r}, not a number from 0 on")
    return {**defaults, **of_board}


def play(
    playbook: str, variables: Mapping[str, Any], log: Path, *options: str, limit: float | None = None
) -> list[str]:
    """Run a playbook; return the tasks' output lines, with CHECK. LabError has a failed task's message.

    log: the file for the output of a failed play, with a drawn number in its name. limit: wall seconds
    after which it counts as hung. A board that does not answer ends it sooner (images/ssh.py,
    playbooks/ansible.cfg).
    """
    # for sockets and temporary files: a socket's path has at most 107 bytes
    with scratch.temporary("ansible") as home:
        output, errors, code = call(playbook, variables, options, limit, str(home))
    # Ansible's exit code is 0 then
    nobody = "no hosts matched" in output + errors
    if code == 0 and not nobody:
        return output_lines(output)
    # jobs of a sweep, and containers, play the same playbooks at the same time
    log = log.with_stem(f"{log.stem}-{secrets.randbelow(10**7)}")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(output + errors)
    if code is None:
        raise LabError(f"{playbook}: no end within {limit:.0f} s (all of it: {log})")
    if nobody:
        raise LabError(
            f"{playbook}: playbooks/inventory has no board {variables.get('board')} (all of it: {log})"
        )
    unreachable = re.search(r"^fatal: .*: UNREACHABLE! => (.*)", output, re.M)
    text = f"{playbook}: {failure(output) or last_line(errors)} (all of it: {log})"
    silent = unreachable and not ANSWERED.search(unreachable[1])
    raise UnreachableError(text, playbook) if silent else LabError(text)


def call(
    playbook: str, variables: Mapping[str, Any], options: Sequence[str], limit: float | None, home: str
) -> tuple[str, str, int | None]:
    """Run ansible-playbook; return its stdout, its stderr and its exit code, None if it hung."""
    # a virtual board's home is in its memory, and part of its snapshots
    temporary = {"lab": BOARD_TEMPORARY, None: home}.get(variables.get("board_kind"))
    without = NOT_PASSED_VIRTUAL if variables.get("board_kind") == "virtual" else NOT_PASSED
    environment = {
        **{name: value for name, value in os.environ.items() if not without.fullmatch(name)},
        **({"ANSIBLE_REMOTE_TMP": temporary} if temporary else {}),
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
        *PYTHON,
        # the first line of its script cannot have an interpreter with a quote in its path
        *("-m", "ansible.cli.playbook"),
        *options,
        "--extra-vars",
        # bytes are contents of files
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
            # SIGKILL would leave its workers running
            process.terminate()
        if hung:
            output, errors = process.communicate()
    return output, errors, None if hung else process.returncode


def output_lines(output: str) -> list[str]:
    """Return the lines that scripts printed, in the order of their tasks; Ansible shows them with -v only."""
    results = re.findall(r"^(?:ok|changed): \[.*?\] => (\{.*\})$", output, re.M)
    return [line for result in results for line in json.loads(result).get("stdout_lines", [])]


def failure(output: str) -> str | None:
    """Return the failed task and its message, from the default callback's output; None without one."""
    task = ""
    for line in output.splitlines():
        if match := re.match(r"TASK \[(.*)\]", line):
            task = match[1]
        if match := re.match(r"(?:fatal|failed): .*? => (\{.*\})$", line):
            result = json.loads(match[1])
            return f"{task}: {cause(result.get('stderr') or result.get('stdout') or str(result.get('msg')))}"
    return None


def cause(text: str) -> str:
    """Return the line with the reason: the one with `Error:`, or the last.

    Scripts of ours begin each line with their name: then all of these lines.
    """
    lines = [line.strip() for line in text.splitlines()]
    if marked := [line for line in lines if line.startswith("Error:")]:
        return marked[0]
    last = last_line(text)
    if ours := re.match(r"[a-z]+-[a-z]+: ", last):
        prefix = ours[0]
        return prefix + "; ".join(line.removeprefix(prefix) for line in lines if line.startswith(prefix))
    return last


def last_line(text: str) -> str:
    """Return the last line with a message, without lines that ssh and mount append to it."""
    # endings of the lines that ssh and mount append
    empty = ("closed.", "dmesg(1) may have more information")
    lines = [line.strip() for line in text.splitlines() if not any(words in line for words in empty)]
    return next((line for line in reversed(lines) if line), "no output")
