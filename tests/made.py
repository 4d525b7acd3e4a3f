"""Run make, without the variables of a make that may run the tests. Objects compiled before, in this
checkout or another with the same cache, come from ccache."""

import os
import subprocess
from pathlib import Path

from images.artifacts import CACHE, ROOT

# Paths below the checkout are relative, and an object's debug information may name another checkout.
OF_CCACHE = {
    "CCACHE_DIR": str(CACHE / "ccache"),
    "CCACHE_BASEDIR": str(ROOT),
    "CCACHE_NOHASHDIR": "1",
    "CCACHE_MAXSIZE": "200M",
}


def make(folder: Path, *words: str | Path) -> None:
    """Make targets in a folder; it must work."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "CCACHE"))}
    command = ["make", "-s", "-C", folder, "CC=ccache cc", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean | OF_CCACHE)
    assert done.returncode == 0, done.stderr
