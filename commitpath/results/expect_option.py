"""EXPECT=…: decorate a command to exit with 1 if its runs' numbers are beyond limits, 125 without a verdict.

The command's function has the decorator `judged`, checks its cells with `check` before it builds anything,
and returns its Outcome.
"""

import functools
import subprocess
import traceback
from collections.abc import Callable, Iterable

from base import streams
from base.errors import BadInputError, FileError, LabError, UnfitFileError, is_bad_input
from commitpath.results.outcome import NoVerdictError, Outcome
from model.cell import Cell

EXPECT, REFERENCE = "EXPECT", "REFERENCE"
Check = Callable[[Iterable[Cell]], None]
Command = Callable[[dict[str, str], Check], Outcome]


def judged(command: Command) -> Callable[[dict[str, str]], int]:
    """Return a command that takes EXPECT and REFERENCE, too."""

    @functools.wraps(command)
    def run(variables: dict[str, str]) -> int:
        text, reference = variables.pop(EXPECT, None), variables.pop(REFERENCE, None)
        if text is not None:
            return _judge(command, variables, text, reference)
        if reference is not None:
            raise BadInputError(
                "REFERENCE without EXPECT: a number that is not as expected is compared with it"
            )
        return command(variables, lambda _: None).code

    return run


def _judge(command: Command, variables: dict[str, str], text: str, reference: str | None) -> int:
    # loaded late: they load Polars
    from commitpath.results import expectations, run_verdicts

    expected = expectations.parse(text)
    base = None if reference is None else run_verdicts.read(reference, expected)

    def check(cells: Iterable[Cell]) -> None:
        expectations.check(expected, cells)

    try:
        # the verdict decides the exit code, also if nobody reads it
        with streams.unread_allowed():
            outcome = command(variables, check)
            return run_verdicts.judge(expected, base, outcome)
    except NoVerdictError:
        raise
    except (LabError, FileError, OSError, subprocess.SubprocessError) as error:
        # a file of the tree that git bisects may be unfit in some of its commits only
        if is_bad_input(error) and not isinstance(error, UnfitFileError):
            raise
        raise NoVerdictError(f"EXPECT: no verdict: {error}") from error
    except Exception as error:
        # Python would end with 1, as for a number that is not as expected
        traceback.print_exc()
        raise NoVerdictError(f"EXPECT: no verdict: {error!r}") from error
