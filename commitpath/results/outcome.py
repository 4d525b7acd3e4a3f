"""Class Outcome: a command's exit code, and the runs that EXPECT judges; the error of a missing verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from base.errors import LabError

if TYPE_CHECKING:
    from commitpath.database.select import Run

# `git bisect run` skips a commit with 125, and ends with 128 or more. Other codes but 0 are of a bad commit.
EXIT_NO_VERDICT, EXIT_BAD_EXPECTED = 125, 128


class NoVerdictError(LabError):
    """No run can be judged: it failed, was rejected, or lacks an expected number."""

    exit_code = EXIT_NO_VERDICT


@dataclass(frozen=True)
class Outcome:
    """code: the command's exit code without EXPECT; failed: why runs are missing, or empty.

    runs: (title, folder or row) of each accepted run; the title is empty if all are of one cell.
    """

    code: int
    runs: Sequence[tuple[str, Path | Run]] = ()
    failed: str = ""
