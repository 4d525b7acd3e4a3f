"""Targets that run another program: tests, linters, benchmarks, the container; uv for `make requirements`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from base.paths import ROOT
from commitpath.host import places

# Target → the program, its options, and whether it needs the Debian packages of the tests.
PROGRAMS: dict[str, tuple[str, list[str], bool]] = {
    "container": ("playbooks/container.sh", ["build"], False),
    "test": ("tests/run-tests", [], True),
    "test-long": ("tests/run-tests", ["--long"], True),
    "lint": ("tests/lint", [], True),
    "bench": ("tests/bench/bench.py", [], True),
    "bench-waiting": ("tests/bench/waiting.py", [], True),
    "bench-repeat": ("tests/bench/repeat.py", [], True),
    "bench-analysis": ("tests/bench/bench_analysis.py", [], True),
    "bench-emulator": ("tests/bench/emulator.py", [], True),
    "bench-programs": ("tests/bench/programs.py", [], True),
    "bench-cuts": ("tests/bench/cuts.py", [], False),
    "bench-profile": ("tests/bench/hidden_devices.py", [], False),
    "bench-sensitivity": ("tests/bench/sensitivity.py", [], False),
    "mutations": ("tests/mutations/mutations.py", [], False),
}


def run(target: str, given: Mapping[str, str]) -> int:
    """Run a target's program in this process's place, with the variables as words NAME=value."""
    program, options, needs_packages = PROGRAMS[target]
    path = str(ROOT / program)
    line = [*([sys.executable] if path.endswith(".py") else []), path, *options]
    if target == "test-long":
        os.environ.setdefault("COMMITPATH_SLURM", "yes")
        os.environ["COMMITPATH_TESTS"] = "long"
    if needs_packages:
        from commitpath.host.packages import ensure_packages

        places.begin("host")
        ensure_packages(with_tests=True)
    os.execv(line[0], [*line, *(f"{name}={value}" for name, value in given.items())])


UV_OPTIONS = (
    *("--quiet", "--no-cache", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-annotate", "--custom-compile-command", "make requirements"),
)


def requirements(_: dict[str, str]) -> int:
    """Pin the Python packages of requirements*.in, with hashes; return the exit code of the first failure."""
    for name in ("requirements-build", "requirements"):
        line = [str(Path(sys.executable).with_name("uv")), "pip", "compile", *UV_OPTIONS]
        done = subprocess.run([*line, f"{name}.in", "-o", f"{name}.txt"], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0
