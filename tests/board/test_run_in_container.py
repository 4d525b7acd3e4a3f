"""`bin/commitpath --container`: a run in a container is the host's."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from copied import copy_tree

from images.artifacts import CACHE

CELL = {"FS": "ext4", "MODE": "wal", "N": "20", "ROWS": "1000"}
# of a machine that cannot raise limits, or has cgroups of both versions, which crun refuses
SETTINGS = """
[containers]
default_ulimits = ["nofile={}:{}", "nproc={}:{}"]
[engine]
runtime = "{}"
"""


def read(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def test_a_run_in_a_container_is_the_hosts(run_cell: Callable[..., Path], tmp_path: Path) -> None:
    """A first call, but for what the cache has; the tree is a copy, as a checkout's .venv may be a link."""
    if not shutil.which("podman"):
        pytest.skip("podman is missing")
    copy_tree(tree := tmp_path / "tree")
    (tmp_path / "containers.conf").write_text(
        SETTINGS.format(
            *resource.getrlimit(resource.RLIMIT_NOFILE),
            # podman's processes have no more, whatever the limit is here
            *(min(limit, 32768) for limit in resource.getrlimit(resource.RLIMIT_NPROC)),
            "runc" if Path("/sys/fs/cgroup/unified").exists() else "crun",
        )
    )
    environment = {
        **os.environ,
        "CONTAINERS_CONF": str(tmp_path / "containers.conf"),
        "COMMITPATH_CACHE": str(CACHE),
        "COMMITPATH_RESULTS": str(tmp_path / "results"),
    }
    line = [str(tree / "bin/commitpath"), "--container", "experiment", *(f"{k}={v}" for k, v in CELL.items())]
    done = subprocess.run(line, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    there, here = tmp_path / "results/latest", run_cell(**CELL)
    inside, outside = read(there, "summary.json"), read(here, "summary.json")
    assert (inside["status"], inside["reasons"]) == ("ok", [])
    assert inside["sql_sha256"] == outside["sql_sha256"]
    assert inside["block"] == outside["block"]
    # of two boards prepared apart, of QEMU 7.2 and 10.0, over 20 transactions: 1.3e-4 to 7.2e-4
    assert inside["tps"] == pytest.approx(outside["tps"], rel=2e-3)
    assert (there / "report.html").stat().st_uid == os.getuid()
    assert read(there, "manifest.json")["host"]["host_python"].startswith("3.13.")
