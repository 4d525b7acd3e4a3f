"""Self-checks of the correlator: `make audit RUN=…` and the tests make them. They reject no run.

Each module of this folder names its checks: OF_LEDGER those of a ledger, OF_RUN those of a whole run.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from analysis.ledger.build import Ledger
from analysis.run import Run


def modules() -> list[ModuleType]:
    """Return the modules of this folder that have checks, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "__main__")
    found = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module for module in found if hasattr(module, "OF_LEDGER") or hasattr(module, "OF_RUN")]


def of_ledger(made: Ledger) -> list[str]:
    """Return what is wrong with a ledger."""
    checks = [check for module in modules() for check in getattr(module, "OF_LEDGER", ())]
    return [f"ledger: {reason}" for check in checks for reason in check(made)]


def reasons(run: Run) -> list[str]:
    """Return what is wrong with a run's ledger, with its waits and with the order of its calls."""
    checks = [check for module in modules() for check in getattr(module, "OF_RUN", ())]
    found = [reason for check in checks for reason in check(run)]
    return found + (of_ledger(run.ledger) if run.ledger else [])
