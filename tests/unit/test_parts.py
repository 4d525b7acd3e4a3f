"""Parts are found by their names: no code outside a part's own files names a filesystem, driver, observer or
workload."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from base.errors import BadInputError
from base.paths import ROOT
from commitpath.cells import from_variables as cells
from commitpath.cells import observers
from model import devices, filesystems

CODE = ("*.py", "*.c", "*.h", "*.sh", "*Makefile", "*.mk", ":!tests")
DRIVERS = {path.stem for path in (ROOT / "workloads/workloads").glob("*.c")}
PROFILES = {path.stem.replace("-", "_") for path in (ROOT / "experiments/workload").glob("*.yml")}
# words, a pattern of the files that may have them, and others that may
PARTS: dict[str, tuple[list[str], str, set[str]]] = {
    "filesystem": (
        [*filesystems.names(), "jbd2"],
        r"(^|/)(WORDS)(-[a-z]+)?\.[a-z.]+$",
        {
            # examples, and the recorded run that the demo shows
            *("Makefile", "commitpath/command_line/help.py", "commitpath/commands/run_commands.py"),
            *("commitpath/database/select.py", "commitpath/papers/page.py"),
            # a sequence of commands that no fit saw; the second module of a filesystem's content
            *("commitpath/fitting/held_out.py", "analysis/content/blockgroups.py"),
            # the board's own root disk and persistent memory
            *("images/build-image.sh", "images/initramfs-init.sh", "playbooks/persistent.sh"),
            # atomic writes by ioctls that bear a name; a garbage collector's mark on a page; comments
            *("workloads/engines/ssl/atomic.c", "probes/bio.bpf.c", "workloads/run.c"),
        },
    ),
    "driver": ([*{*devices.names()} - {"own"}], r"(^|/)(WORDS)(/|[.][a-z.]+$)", set()),
    # probes and content are words of other meanings
    "observer": (
        [*{*observers.names()} - {"probes", "content"}],
        r"(^|/)(WORDS)\.[a-z.]+$",
        # the trace format of that name
        {
            *("Makefile", "analysis/adapters/blklines.py", "analysis/export/__init__.py"),
            *("analysis/export/iolog.py", "analysis/inspect/external_trace.py"),
            "analysis/inspect/trace_gaps.py",
        },
    ),
    # kv, null, requests, sql: words of other meanings; apsys17: the default; a C file may have several
    "workload": (
        [*(DRIVERS & PROFILES) - {"kv", "null", "requests", "apsys17", "sql"}],
        rf"/({'|'.join(DRIVERS | PROFILES)})\.",
        set(),
    ),
}
# the same part in two stages of a package
IN_TWO_STAGES = {"analysis": {"blktrace", "covariates", "ext4", "f2fs"}}


@pytest.mark.parametrize("kind", PARTS)
def test_no_other_code_names_a_part(kind: str) -> None:
    names, own, others = PARTS[kind]
    words = "|".join(names)
    line = ["git", "grep", "-lwE", words, "--", *CODE]
    paths = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {path for path in paths if not re.search(own.replace("WORDS", words), path)} == others


@pytest.mark.parametrize("package", ["analysis", "base", "commitpath", "images", "model"])
def test_no_two_modules_of_a_package_share_a_name(package: str) -> None:
    line = ["git", "ls-files", f"{package}/*.py", ":!commitpath/skeletons"]
    paths = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    modules = Counter(Path(path).stem for path in paths)
    shared = {name for name, count in modules.items() if count > 1} - {"__init__"}
    assert shared == IN_TWO_STAGES.get(package, set())


def test_a_limit_is_told_with_its_file() -> None:
    with pytest.raises(BadInputError, match=r"takes at least 2 \(experiments/workload/apsys17-delete.yml\)"):
        cells.make_cell({"WORKLOAD": "apsys17-delete", "ROWS": "1"})
    assert cells.make_cell({"WORKLOAD": "apsys17", "ROWS": "0"}).rows == 0
