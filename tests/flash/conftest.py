"""The flash model, built natively, behind a Python call."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from plain_device import PLAIN, ROOT, Refused

FLAGS = [
    "-std=gnu11",
    "-O1",
    "-g",
    "-Wall",
    "-Wextra",
    "-Wno-missing-field-initializers",
    "-Werror",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]


@pytest.fixture(scope="session")
def binary(tmp_path_factory):
    """The model with its text interface."""
    # tests/flash/mutants.py puts broken sources there
    folder = Path(os.environ.get("FLASH_SOURCES", ROOT / "images/devices/flashsim"))
    out = tmp_path_factory.mktemp("flash") / "model"
    sources = [
        Path(__file__).with_name("model_cli.c"),
        *(folder / name for name in ("model.c", "media.c", "units.c", "map.c", "map_cache.c")),
    ]
    compiler = shutil.which("gcc") or shutil.which("cc")
    subprocess.run([compiler, *FLAGS, f"-I{folder}", "-o", str(out), *map(str, sources)], check=True)
    return out


@pytest.fixture(scope="session")
def model(binary):
    """model(commands, **parameters): (times at which they are done, counters)."""

    def call(commands, **changes):
        parameters = [f"{name}={value}" for name, value in {**PLAIN, **changes}.items()]
        done = subprocess.run([str(binary), *parameters], input="\n".join(commands) + "\n",
                              capture_output=True, text=True, check=False, timeout=20)  # fmt: skip
        if done.returncode == 2:
            raise Refused(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        lines = done.stdout.split()
        counters = {name: int(value) for name, value in (li.split("=") for li in lines if "=" in li)}
        return [int(line) for line in lines if "=" not in line], counters

    return call
