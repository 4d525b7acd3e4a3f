"""playbooks/container.sh with a podman and an mmdebstrap that record how they are called."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from base.errors import EXIT_BAD_INPUT

ROOT = Path(__file__).resolve().parents[2]
HASH = "[0-9a-f]" * 12
# `images` prints what the file `image` has, `import` writes it, `run` starts where `started` is to be
ENGINE = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
state = pathlib.Path(os.environ["STATE"])
with (state / "calls").open("a") as calls:
    print(json.dumps(sys.argv), file=calls)
if sys.argv[1] == "images":
    print((state / "image").read_text() if (state / "image").exists() else "", end="")
    sys.exit(int(os.environ.get("NO_SERVICE", "0")))
if sys.argv[1] == "info":
    print("[name=seccomp,profile=builtin " + os.environ.get("SECURITY", "name=cgroupns") + "]")
if sys.argv[1] == "import":
    (state / "image").write_text(pathlib.Path(sys.argv[2]).read_text())
if sys.argv[1] == "run":
    (work,) = [word for word in sys.argv if word.endswith(":/run/commitpath")]
    if os.environ.get("STARTS", "yes") == "yes":
        pathlib.Path(work.split("=")[1].split(":")[0], "started").touch()
    if "SIGNAL" in os.environ:
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        print("ready", sys.stdin.read(), flush=True)
        time.sleep(60)
    sys.exit(int(os.environ.get("CODE", "0")))
"""
MMDEBSTRAP = """#!/bin/sh
echo "$@" >> "$STATE/made"
echo root
exit "${MADE:-0}"
"""


class Host:
    """A checkout on a host with podman, or docker, and mmdebstrap."""

    def __init__(self, folder: Path, engine: str = "podman") -> None:
        self.tree, self.state, self.bin = folder / "a checkout", folder / "state", folder / "programs"
        for path in (self.tree / "bin", self.tree / "playbooks", self.state, self.bin, folder / "tmp"):
            path.mkdir(parents=True)
        for name in ("Makefile", "bin/commitpath", "playbooks/container.sh", "playbooks/host.yml"):
            shutil.copy(ROOT / name, self.tree / name)
        for name, text in {engine: ENGINE, "mmdebstrap": MMDEBSTRAP}.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        for path in [*Path("/usr/bin").iterdir()]:
            if path.name not in ("podman", "docker", "mmdebstrap") and not (self.bin / path.name).exists():
                (self.bin / path.name).symlink_to(path)
        self.temporary = folder / "tmp"

    def line(self, *words: str, **more: str) -> dict[str, object]:
        environment = {"PATH": str(self.bin), "STATE": str(self.state), "TMPDIR": str(self.temporary), **more}
        return {
            "args": [str(self.tree / "bin/commitpath"), *words],
            "cwd": self.state,
            "env": environment,
            "text": True,
        }

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(**self.line(*words, **more), capture_output=True, check=False)  # type: ignore[call-overload]
        assert not list(self.temporary.iterdir())
        return done  # type: ignore[no-any-return]

    def calls(self, verb: str) -> list[list[str]]:
        lines = (self.state / "calls").read_text().splitlines()
        return [call for call in map(json.loads, lines) if call[1] == verb]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_the_image_has_the_packages_of_the_host_and_is_made_once(host: Host) -> None:
    done = host.run("container")
    assert done.returncode == 0, done.stderr
    assert "image: done" in done.stderr
    (made,) = (host.state / "made").read_text().splitlines()
    (named,) = [word.removeprefix("--include=") for word in made.split() if word.startswith("--include")]
    lists = yaml.safe_load((ROOT / "playbooks/host.yml").read_text())[0]["vars"]
    wanted = [name for key in ("first", "host", "virtual") for name in lists[f"{key}_packages"]]
    assert named.split(",") == wanted and made.endswith(" trixie -")
    again = host.run("container")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len(host.calls("import")) == 1
    image = host.calls("import")[0][-1]
    assert Path(image).match(f"commitpath:{HASH}")
    with (host.tree / "playbooks/host.yml").open("r+") as file:
        text = file.read().replace("      - tcl\n", "      - tcl\n      - sed\n")
        file.seek(0)
        file.write(text)
    (host.state / "image").unlink()
    host.run("container")
    assert host.calls("import")[1][-1] != image


def test_the_command_in_the_container(host: Host, tmp_path: Path) -> None:
    """Folders at their own paths, the caller's ids, and of the environment what a run needs."""
    (host.state / "image").write_text("an id")
    (tmp_path / "link").symlink_to(tmp_path)
    more = {
        "COMMITPATH_CACHE": "c d",
        "COMMITPATH_RESULTS": str(tmp_path / "link/r"),
        "http_proxy": "p",
        "PIP_CERT": "x",
    }
    words = ["watch", "CMD=a  'b'\n", "--", "c d"]
    assert host.run("--container", *words, **more).returncode == 0
    (call,) = host.calls("run")
    tree, cache = host.tree, host.tree / "c d"
    volumes = [word.removeprefix("--volume=") for word in call if word.startswith("--volume")]
    for path in (tree, cache, tmp_path / "r", host.state):
        assert f"{path}:{path}" in volumes and path.is_dir()
    (environment,) = [volume for volume in volumes if volume.endswith(f":{tree}/.venv")]
    assert Path(environment.partition(":")[0]).match(f"c d/venv-{HASH}")
    passed = {word.removeprefix("--env=") for word in call if word.startswith("--env") and "CERT" not in word}
    # without links, as they are mounted
    assert passed == {f"COMMITPATH_CACHE={cache}", f"COMMITPATH_RESULTS={tmp_path / 'r'}", "http_proxy"}
    assert f"--workdir={host.state}" in call and "--network=host" in call
    assert not {"--tty", "--interactive"} & {*call}
    assert call[call.index("sh") + 4 :] == [
        str(os.getuid()),
        str(os.getgid()),
        f"{tree}/bin/commitpath",
        *words,
    ]


@pytest.mark.parametrize("code", [1, 3, 125, 126])
def test_the_exit_code_is_the_commands(host: Host, code: int) -> None:
    (host.state / "image").write_text("an id")
    done = host.run("--container", "results", CODE=str(code))
    assert (done.returncode, done.stderr) == (code, "")


# `git bisect run` skips a commit with 125, and takes 1 for a bad one; after `--` it is a word of the command
@pytest.mark.parametrize(
    ("words", "code"), [([], 1), (["EXPECT=syncs<=1"], 125), (["--", "EXPECT=syncs<=1"], 1)]
)
def test_a_refused_host_cannot_be_tested(host: Host, words: list[str], code: int) -> None:
    remove_mmdebstrap(host)
    done = host.run("--container", "experiment", *words)
    assert done.returncode == code and "mmdebstrap is missing" in done.stderr


def test_a_wrong_request_ends_a_bisect(host: Host) -> None:
    assert host.run("container", "EXPECT=syncs<=1").returncode == 128


@pytest.mark.parametrize(("words", "code"), [([], 1), (["EXPECT=syncs<=1"], 125)])
def test_a_container_that_does_not_start_is_one_line(host: Host, words: list[str], code: int) -> None:
    (host.state / "image").write_text("an id")
    done = host.run("--container", "experiment", *words, STARTS="no", CODE="126")
    line = "commitpath: container: podman could not start it (exit 126); see above\n"
    assert (done.returncode, done.stderr) == (code, line)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_reaches_the_container(host: Host, number: int, code: int) -> None:
    """And what the caller types."""
    (host.state / "image").write_text("an id")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    line = host.line("--container", "board", SIGNAL="yes")
    with subprocess.Popen(**line, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write("typed")
        process.stdin.close()
        assert process.stdout.readline() == "ready typed\n"
        process.send_signal(number)
        assert process.wait(timeout=30) == code
        assert process.stderr.read() == ""
    assert not list(host.temporary.iterdir())


@pytest.mark.parametrize("security", ["name=cgroupns", "name=rootless"])
def test_docker_where_there_is_no_podman(tmp_path: Path, security: str) -> None:
    host = Host(tmp_path, "docker")
    assert host.run("--container", "results", SECURITY=security).returncode == 0
    assert host.calls("run")[0][0].endswith("docker")


def test_a_docker_that_maps_ids_of_its_own_is_refused(tmp_path: Path) -> None:
    """Its containers' root is nobody on the host, unlike that of a docker without root."""
    host = Host(tmp_path, "docker")
    done = host.run("--container", "results", SECURITY="name=userns")
    assert done.returncode == 1 and not host.calls("run")
    assert done.stderr.startswith("commitpath: container: docker maps user ids here (userns-remap)")


def remove_engine(host: Host) -> None:
    (host.bin / "podman").unlink()


def remove_mmdebstrap(host: Host) -> None:
    (host.bin / "mmdebstrap").unlink()


def link_environment(host: Host) -> None:
    (host.tree / ".venv").symlink_to("/nowhere")


@pytest.mark.parametrize(
    ("change", "more", "reason"),
    [
        (remove_engine, {}, "there is neither podman nor docker"),
        (remove_mmdebstrap, {}, "mmdebstrap is missing; install it"),
        (link_environment, {}, ".venv is a link"),
        (None, {"NO_SERVICE": "1"}, "podman does not work here"),
        (None, {"MADE": "1"}, "mmdebstrap could not make the image"),
        (None, {"TMPDIR": "/nowhere"}, "no temporary folder"),
    ],
)  # fmt: skip
def test_what_is_missing_is_one_line(host: Host, change, more: dict[str, str], reason: str) -> None:  # type: ignore[no-untyped-def]
    if change:
        change(host)
    done = host.run("--container", "results", **more)
    (line,) = [line for line in done.stderr.splitlines() if "the container's image:" not in line]
    assert done.returncode == 1 and f"commitpath: container: {reason}" in line.replace(f"{host.tree}/", "")
    assert not (host.state / "image").exists()


@pytest.mark.parametrize("folder", ["/", "/etc", "/usr/share"])
def test_a_folder_of_the_system_is_not_mounted(host: Host, folder: str) -> None:
    (host.state / "image").write_text("an id")
    done = subprocess.run(
        **host.line("--container", "results") | {"cwd": folder}, capture_output=True, check=False
    )  # type: ignore[call-overload]
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and f"container: {folder} is a folder of the system" in line
    assert not (host.state / "calls").exists()


def test_the_image_takes_no_variables(host: Host) -> None:
    done = host.run("container", "SUITE=sid")
    assert (done.returncode, done.stderr) == (
        EXIT_BAD_INPUT,
        "commitpath: container: it takes no variables\n",
    )


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ('ID=fedora\nVERSION_ID=43\nPRETTY_NAME="Fedora Linux 43"\n', "Fedora Linux 43"),
        ('ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04"\n', "Ubuntu 24.04"),
        ('ID=debian\nVERSION_ID="11"\nPRETTY_NAME="Debian 11"\n', "Debian 11"),
    ],
)
def test_another_system_is_named_with_the_way_to_run_on_it(tmp_path: Path, release: str, name: str) -> None:
    (tmp_path / "release").write_text(release)
    inside = 'mount --bind "$1" "$(readlink -f /etc/os-release)" && exec "$2" venv'
    line = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", inside, "sh"]
    done = subprocess.run(
        [*line, tmp_path / "release", ROOT / "playbooks/bootstrap.sh"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    (message,) = done.stderr.splitlines()
    assert done.returncode == 1 and not (tmp_path / "venv").exists()
    assert message.startswith(f"commitpath: {name} is not Debian 12 or 13; ")
    assert "make container" in message and "bin/commitpath --container TARGET" in message
