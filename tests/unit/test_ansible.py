"""Playbooks and inventory: a failure in one line, checked entries, no setting of the user's, time limits."""

import contextlib
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from base.errors import BadInputError, LabError
from base.paths import ROOT
from commitpath.host import ansible

# As mkfs.f2fs 1.16 and mke2fs 1.47.2 with the driver said it, on a device of 16 MiB.
F2FS = (
    "Info: zone aligned\n\tError: Device size is not sufficient for F2FS volume\n\tError: Could not format\n"
)
EXT4 = "mke2fs 1.47.2\n\ndriver: step of INSERT failed: SQLite error 13 (database or disk is full)\n"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"stdout": F2FS, "stderr": ""}, "Error: Device size is not sufficient for F2FS volume"),
        ({"stdout": "done\n", "stderr": EXT4}, EXT4.splitlines()[-1]),
        ({"msg": "no such module"}, "no such module"),
    ],
)
def test_failed_task(result: dict[str, str], said: str) -> None:
    output = f"TASK [Make it] ****\nfatal: [virtual]: FAILED! => {json.dumps(result)}\n"
    assert ansible.failure(output) == f"Make it: {said}"


@pytest.fixture
def inventory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of playbooks/inventory."""
    monkeypatch.setattr(ansible, "PLAYBOOKS", tmp_path)
    (tmp_path / "inventory").mkdir()
    return tmp_path / "inventory"


def test_a_board_that_is_no_mapping_is_named(inventory: Path) -> None:
    file = inventory / "lab.yml"
    file.write_text("boards: {hosts: {mine: , hikey: text}}\n")
    with pytest.raises(BadInputError, match=f"{file}: boards.hosts.hikey: 'text' is not a mapping"):
        ansible.board("hikey")


def test_a_board_is_in_one_file(inventory: Path) -> None:
    """Ansible would merge both: whose device is used would depend on the files' names."""
    for file in ("a.yml", "b.yaml"):
        (inventory / file).write_text("boards: {hosts: {pi: {board_kind: lab}}}\n")
    with pytest.raises(BadInputError, match=r"b\.yaml: pi is in another file of playbooks/inventory, too"):
        ansible.inventory()


@pytest.mark.parametrize("name", ["../x", "''", "'pi,hikey'", "all"])
def test_a_name_is_of_one_board(name: str, inventory: Path) -> None:
    """A play's hosts are a pattern; and locks are called after a board."""
    (inventory / "lab.yml").write_text(f"boards: {{hosts: {{{name}: {{board_kind: lab}}}}}}\n")
    with pytest.raises(BadInputError, match=r"lab\.yml: boards\.hosts\..*: a board's name has letters"):
        ansible.board("pi")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        # a misspelt hook would be run never
        ("board_acqire: get", "has board_acqire; there are .*board_acquire"),
        # nor would these limits be applied
        ("limits: {celsius: 70}, 5: 6", "has 5, limits; there are .*board_limits.* begin with ansible_"),
        ("board_limits: {celsius: .inf}", "board_limits.celsius is inf, not a number"),
        ('board_acquire: "a\\0b"', "board_acquire is 'a.*b'; it is one line of text"),
        ("board_acquire: '\"'", "board_acquire is '\"', not a command"),
        ("board_device_bytes: 0", "board_device_bytes is 0 "),
    ],
)
def test_what_an_entry_cannot_have(more: str, says: str, inventory: Path) -> None:
    size = "" if "bytes" in more else "board_device_bytes: 1, "
    (inventory / "lab.yml").write_text(
        f"boards: {{hosts: {{pi: {{board_kind: lab, board_device: /dev/x, {size}{more}}}}}}}\n"
    )
    with pytest.raises(BadInputError, match=f"BOARD=pi: .*{says}"):
        ansible.board("pi")


@pytest.mark.parametrize("device", ["5", "sda1", "'/dev/x y'", "'/dev/{{ x }}'"])
def test_a_device_is_a_path(inventory: Path, device: str) -> None:
    (inventory / "lab.yml").write_text(
        f"boards: {{hosts: {{pi: {{board_kind: lab, board_device: {device}, board_device_bytes: 1}}}}}}\n"
    )
    with pytest.raises(BadInputError, match=r"BOARD=pi: board_device is .* not a path from / on"):
        ansible.board("pi")


def test_an_inventory_of_six_lines_names_a_lab_board(inventory: Path) -> None:
    shown = re.search(r"```yaml\n(boards:\n.*?)```", (ROOT / "docs/how-to/lab-boards.md").read_text(), re.S)
    assert shown
    assert len(shown[1].splitlines()) == 6
    (inventory / "boards.yml").write_text((ROOT / "playbooks/inventory/boards.yml").read_text())
    (inventory / "lab.local.yml").write_text(shown[1])
    pi, virtual = ansible.board("pi"), ansible.board("virtual")
    assert (pi["board_kind"], pi["ansible_user"], virtual["board_kind"]) == ("lab", "root", "virtual")
    command = [sys.executable, "-m", "ansible.cli.inventory", "-i", str(inventory), "--host", "pi"]
    seen = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert seen == pi


# ssh that fails with its words.
SSH = "#!/bin/sh\necho '{words}' >&2\nexit 255\n"


@pytest.mark.parametrize(
    ("words", "silent"),
    [
        ("ssh: connect to host 192.0.2.1 port 22: Connection timed out", True),
        ("kex_exchange_identification: Connection closed by remote host", True),
        ("root@192.0.2.1: Permission denied (publickey).", False),
        ("Host key verification failed.", False),
    ],
)
def test_a_board_that_refuses_a_login_is_not_taken_for_dead(words: str, silent: bool, tmp_path: Path) -> None:
    """It would be switched off and on, with what others do on it."""
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(words=words))
    ssh.chmod(0o755)
    playbook = tmp_path / "play.yml"
    task = {"ansible.builtin.raw": "true"}
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    variables = {"ansible_connection": "ssh", "ansible_ssh_executable": str(ssh), "ansible_ssh_retries": 0}
    with pytest.raises(LabError, match=re.escape(words)) as error:
        ansible.play(str(playbook), variables, tmp_path / "log")
    assert isinstance(error.value, ansible.UnreachableError) == silent


def test_nothing_is_written_to_a_lab_boards_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible copies a script to its home there by default, which may be full, or on the measured disk."""
    for name, value in (("STDOUT_CALLBACK", "minimal"), ("FORCE_COLOR", "1"), ("INVENTORY", "/none")):
        monkeypatch.setenv(f"ANSIBLE_{name}", value)
    script, playbook = tmp_path / "script.sh", tmp_path / "play.yml"
    script.write_text("#!/bin/sh\necho $0\n")
    script.chmod(0o755)
    task = {"ansible.builtin.script": {"cmd": str(script)}}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}
    playbook.write_text(json.dumps([play]))
    (path,) = ansible.play(str(playbook), {"board_kind": "lab"}, tmp_path / "log", "-v")
    assert re.fullmatch("/dev/shm/ansible-tmp-[^/]*/script.sh", path)
    assert not Path(path).parent.exists()
    # nor to a home of this host, which may be missing
    (path,) = ansible.play(str(playbook), {}, tmp_path / "log", "-v")
    assert "/commitpath-ansible-" in path


def test_the_virtual_board_has_none_of_the_users_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as for a strategy that is not installed here, or for another Python."""
    for name, value in (("ANSIBLE_STRATEGY", "gone"), ("ANSIBLE_DEBUG", "1"), ("PYTHONHOME", "/gone")):
        monkeypatch.setenv(name, value)
    playbook = tmp_path / "play.yml"
    task = {"ansible.builtin.command": {"cmd": "echo done"}}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}
    playbook.write_text(json.dumps([play]))
    assert ansible.play(str(playbook), {"board_kind": "virtual"}, tmp_path / "log", "-v") == ["done"]


def test_play_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    playbook = tmp_path / "hang.yml"
    # on a busy machine the play may end before its task begins; both name the folder
    command = shlex.join([sys.executable, "-c", "import time; time.sleep(100)", str(tmp_path)])
    task = {"ansible.builtin.shell": {"cmd": f"exec {command}"}}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}
    playbook.write_text(json.dumps([play]))
    with pytest.raises(LabError, match=r"no end within 8 s \(all of it: .*/log-[0-9]+\)"):
        ansible.play(str(playbook), {}, tmp_path / "log", limit=8)
    begin = time.monotonic()
    while left := processes_that_name(tmp_path):
        assert time.monotonic() - begin < 30, left
        time.sleep(0.1)


def processes_that_name(path: Path) -> list[bytes]:
    """Return the command lines with the path; a zombie has none, and who reaps it is not for us to say."""
    lines = list[bytes]()
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(process.read_bytes())
    return [line for line in lines if bytes(path) in line]
