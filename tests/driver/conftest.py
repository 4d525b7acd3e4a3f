"""The drivers under test, under ASan and UBSan: `make -C workloads sanitized-…` builds them."""

import csv
import functools
import json
import re
import sqlite3  # noqa: F401 - so that its library is mapped
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from made import make

from base.identity import FIRST_ENGINE
from images import artifacts

WORKLOADS = Path(__file__).resolve().parents[2] / "workloads"
NEWEST = "3.46.1"
OLD = "3.8.11.1"


def ok(done):
    """A completed process, which must have worked without a word on stderr."""
    assert (done.returncode, done.stderr) == (0, "")
    return done


@dataclass
class Driver:
    """One driver binary and a folder for what it writes."""

    binary: Path
    folder: Path

    @property
    def output(self):
        return self.folder / "out"

    @property
    def database(self):
        return self.folder / "sample.db"

    def __call__(self, *arguments, **keywords):
        """Run the driver; returns the completed process."""
        command = [str(a) for a in (self.binary, *arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **keywords)

    def populate(self, *more, rows=50, value_size=3072, page_size=4096):
        """Make the database; it must work."""
        for path in self.folder.glob(self.database.name + "*"):
            path.unlink()
        sizes = ["--value-size", value_size, "--page-size", page_size]
        ok(self("populate", "--database", self.database, "--rows", rows, *sizes, *more))

    def run(self, *more, rows=50, n=20, mode="delete", synchronous="full", **keywords):
        """Run the workload on the database."""
        return self(
            *("run", "--database", self.database, "--output-dir", self.output),
            *("--rows", rows, "--n", n, "--journal-mode", mode, "--synchronous", synchronous),
            *more,
            **keywords,
        )

    def run_ok(self, *more, **keywords):
        """Run the workload; it must work."""
        ok(self.run(*more, **keywords))

    def config(self):
        return json.loads((self.output / "config.json").read_text())

    def rendered(self):
        """What the engine was given."""
        return (self.output / "rendered").read_bytes()

    def table(self, name):
        with (self.output / name).open(newline="") as file:
            return list(csv.DictReader(file))


def library(release):
    """SQLite as the drivers with that release have it, once one of them is built (workloads/Makefile)."""
    return WORKLOADS / f"build/test/library-{release}.objects/sqlite3.o"


@functools.cache
def binary(release):
    """A driver, built once in a checkout; by one of the workers that run tests."""
    # of an engine: that of the newest
    with artifacts.locked(library(release if release in (NEWEST, OLD) else NEWEST).parent):
        make(WORKLOADS, f"sanitized-{release}")
    return WORKLOADS / f"build/test/driver-{release}"


def binary_of(engine):
    """The driver of an engine, with the newest SQLite."""
    return binary(NEWEST if engine == FIRST_ENGINE else f"engine-{engine}")


@functools.cache
def of_parts(name, *parts):
    """A program under ASan and UBSan: NAME_script.c of here, and what of workloads/ it is about."""
    built = WORKLOADS / "build/test" / name
    part = built.with_suffix(".part")
    sources = [Path(__file__).with_name(f"{name}_script.c"), *(WORKLOADS / one for one in parts)]
    command = ["gcc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wno-unused-parameter"]
    command += [
        "-Werror",
        "-O0",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        f"-I{WORKLOADS}",
    ]
    with artifacts.locked(built):
        subprocess.run([*command, f"-I{WORKLOADS}", "-o", part, *sources], check=True)
        # another worker may be running it
        part.replace(built)
    return built


@pytest.fixture(params=[NEWEST, OLD])
def driver(request, tmp_path):
    """The driver with the newest and with an old SQLite."""
    return Driver(binary(request.param), tmp_path)


@pytest.fixture
def newest(tmp_path):
    return Driver(binary(NEWEST), tmp_path)


@pytest.fixture
def old(tmp_path):
    return Driver(binary(OLD), tmp_path)


def one_line_error(done, status):
    """The one line that a failed driver must leave on stderr."""
    assert done.returncode == status, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("driver: "), done.stderr
    return lines[0]


def linked_with_sqlite(program: str, folder: Path) -> Path:
    """A program of this folder, linked with this machine's SQLite, of which no header need be installed."""
    (library,) = set(re.findall(r"(/\S+/libsqlite3\.so\S*)$", Path("/proc/self/maps").read_text(), re.M))
    made = folder / program
    source = Path(__file__).with_name(f"{program}.c")
    subprocess.run(["gcc", "-O0", "-g", "-o", made, source, library], check=True)
    return made
