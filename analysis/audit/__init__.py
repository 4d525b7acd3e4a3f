"""`make audit RUN=…`: print faults in how a run's bytes, waits and calls were attributed; reject no run.

Each module lists its checks: of a ledger in LEDGER_CHECKS, of a whole run in RUN_CHECKS.
"""

import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from analysis import stages
from analysis.ledger.build import Ledger
from analysis.run import Run
from base.text import printable


def modules() -> list[ModuleType]:
    """Return the modules of this folder that have checks, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    every = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module for module in every if hasattr(module, "LEDGER_CHECKS") or hasattr(module, "RUN_CHECKS")]


def ledger_reasons(made: Ledger) -> list[str]:
    """Return the faults of a ledger."""
    checks = [check for module in modules() for check in getattr(module, "LEDGER_CHECKS", ())]
    return [f"ledger: {reason}" for check in checks for reason in check(made)]


def reasons(run: Run) -> list[str]:
    """Return the faults of a run: its file calls, its waits and its ledger."""
    checks = [check for module in modules() for check in getattr(module, "RUN_CHECKS", ())]
    faults = [reason for check in checks for reason in check(run)]
    return faults + (ledger_reasons(run.ledger) if run.ledger else [])


def main(folder: str) -> int:
    """Print the faults of a run's folder.

    Return 0 for none, 1 for some, 3 if the run has no ledger. Raises FileError.
    """
    run = stages.build(Path(folder))
    faults = reasons(run)
    for fault in faults:
        print(printable(fault))
    if not faults and not run.ledger:
        print(
            "commitpath: the run has no ledger to check: PROBES lacks what ties work to it", file=sys.stderr
        )
        return 3
    if not faults:
        print("no fault")
    return 1 if faults else 0
