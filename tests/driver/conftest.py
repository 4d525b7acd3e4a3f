"""The drivers under test: `make -C workloads test-driver` builds them."""

import csv
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NEWEST = "3.46.1"
OLD = "3.8.11.1"


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
        done = self("populate", "--database", self.database, "--rows", rows, *sizes, *more)
        assert (done.returncode, done.stderr) == (0, "")

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
        done = self.run(*more, **keywords)
        assert (done.returncode, done.stderr) == (0, "")

    def config(self):
        return json.loads((self.output / "config.json").read_text())

    def table(self, name):
        with (self.output / name).open(newline="") as file:
            return list(csv.DictReader(file))


def binary(release):
    folder = os.environ.get("COMMITPATH_DRIVERS")
    if folder is None:
        pytest.skip("COMMITPATH_DRIVERS is not set: run make -C workloads test-driver")
    return Path(folder) / f"driver-{release}"


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
