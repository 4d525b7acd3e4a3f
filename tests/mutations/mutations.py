"""Forge recorded runs in every way that is known here, and see whether the analysis is deceived.

usage: make mutations [KIND=name] [SAMPLE=name] [SEED=number] [N=tries of each kind on each sample]

Each try spoils a copy of a sample at seeded random places, makes the hashes of host.json anew as a
careful forger would, and analyses it. The verdict:
  noticed       the run is refused or rejected, for a reason that the true one has not
  unattributed  it is accepted, and what moved is shown as unattributed
  harmless      it is accepted, and less moved than the limits of moved.py
  cannot be told  the same, of a kind that known.yml says nothing in a run can refute
  missed        it is accepted, and somebody is told what is not so
Prints a Markdown table; exit 1 if one is missed, 2 if a variable cannot be.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

from base import interrupts  # noqa: E402

if __name__ == "__main__":
    interrupts.hold()  # until all that is below is loaded

import multiprocessing  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import tempfile  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable, Iterable, Iterator  # noqa: E402
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait  # noqa: E402
from contextlib import AbstractContextManager, nullcontext  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from itertools import islice  # noqa: E402

import kinds  # noqa: E402
from attempts import SAMPLES, VERDICTS, Outcome, Try, attempt, known, unpack  # noqa: E402

from analysis.files import shown  # noqa: E402
from base import progress  # noqa: E402
from base.errors import BadInputError  # noqa: E402
from commitpath import command_line, variables  # noqa: E402

PROCESSES = 2
AHEAD = 4 * PROCESSES  # tries that are handed out before they are begun
# of the variables that are numbers
LARGEST = {"SEED": 999_999_999, "N": 1000}


@dataclass(frozen=True)
class Tries:
    """N tries of each kind on each sample, made one after the other when they are asked for."""

    kinds: list[str]
    samples: list[str]
    seed: int
    number: int

    def __len__(self) -> int:
        return len(self.kinds) * len(self.samples) * self.number

    def __iter__(self) -> Iterator[Try]:
        for kind in self.kinds:
            for sample in self.samples:
                for number in range(self.number):
                    yield Try(kind, sample, self.seed, number)


def tries(given: dict[str, str]) -> Tries:
    """What the variables ask for. Raises BadInputError."""
    variables.check("mutations", given)
    asked = {"KIND": kinds.find(), "SAMPLE": SAMPLES}
    for name, those in asked.items():
        if given.get(name, next(iter(those))) not in those:
            raise BadInputError(f"{name}={given[name]}: no such one; there are {', '.join(those)}")
    numbers = {}
    for name, default in (("SEED", "1"), ("N", "3")):
        text = given.get(name, default)
        most = LARGEST[name]
        few = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not few or not 1 <= int(text) <= most:
            raise BadInputError(f"{name} is {shown(text)}: it is a whole number from 1 to {most}")
        numbers[name] = int(text)
    chosen = {name: [given[name]] if name in given else list(those) for name, those in asked.items()}
    return Tries(chosen["KIND"], chosen["SAMPLE"], numbers["SEED"], numbers["N"])


@interrupts.uninterrupted
def make_pool() -> ProcessPoolExecutor:
    """Return the processes that make tries; half-made, it leaves semaphores behind."""
    spawn = multiprocessing.get_context("spawn")  # Polars' threads do not live through a fork
    # a signal is answered by this process alone
    return ProcessPoolExecutor(PROCESSES, spawn, interrupts.ignore)


@interrupts.uninterrupted
def submit(pool: ProcessPoolExecutor, one: Try, folder: Path) -> Future[Outcome]:
    """Hand out a try. It may start a process, which hears no signal before it ignores them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, interrupts.TOLD)
    try:
        return pool.submit(attempt, one, folder)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(wanted: Tries) -> list[Outcome]:
    """Make all tries, several at a time; in their order."""
    done: dict[Try, Outcome] = {}
    signal.siginterrupt(signal.SIGINT, True)  # Polars has system calls restarted after a signal
    with tempfile.TemporaryDirectory(prefix="mutations-") as name, make_pool() as pool:
        unpack(wanted.samples, Path(name))
        left = iter(wanted)
        pending: set[Future[Outcome]] = set()
        try:
            with _shown(lambda: f"mutations: {len(done)} of {len(wanted)}"):
                while len(done) < len(wanted):
                    begun = islice(left, AHEAD - len(pending))
                    pending |= {submit(pool, one, Path(name)) for one in begun}
                    finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                    done |= {outcome.tried: outcome for outcome in (one.result() for one in finished)}
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [done[one] for one in wanted]


def _shown(line: Callable[[], str]) -> AbstractContextManager[None]:
    """Show a line where there is a terminal."""
    return progress.shown(line) if progress.on_terminal() else nullcontext()


def table(outcomes: Iterable[Outcome]) -> str:
    """The verdicts by kind, as Markdown; kinds that are alike but for a record's type are one row."""
    by_kind: dict[str, Counter[str]] = {}
    for one in outcomes:
        by_kind.setdefault(kinds.told(one.tried.kind), Counter())[one.verdict] += 1
    lines = [f"| what is spoiled | {' | '.join(VERDICTS)} |", "|---" * (len(VERDICTS) + 1) + "|"]
    for kind, found in by_kind.items():
        cells = " | ".join(str(found[verdict] or "") for verdict in VERDICTS)
        lines.append(f"| {kind} | {cells} |")
    total = sum(by_kind.values(), Counter())
    lines.append(f"| **all** | {' | '.join(f'**{total[v]}**' for v in VERDICTS)} |")
    return "\n".join(lines)


def main() -> int:
    """Run what make asks for."""
    interrupts.let()
    try:
        wanted = tries(command_line.read(["mutations", *sys.argv[1:]])[1])
    except BadInputError as error:
        print(f"mutations: {error}", file=sys.stderr)
        return error.exit_code
    outcomes = run(wanted)
    if os.environ.get("MUTATIONS_WHY"):
        for one in outcomes:
            print(one.verdict, one.tried.kind, one.tried.sample, one.tried.number, one.why[:200])
    number, samples = (len({getattr(one.tried, what) for one in outcomes}) for what in ("kind", "sample"))
    print(f"SEED={wanted.seed}: {number} kinds on {samples} samples, {len(outcomes)} tries")
    print(f"\n{table(outcomes)}")
    for kind, why in known().items():
        if any(one.tried.kind == kind and one.verdict == "cannot be told" for one in outcomes):
            print(f"cannot be told: {kinds.told(kind)}: {why}")
    missed = [one for one in outcomes if one.verdict == "missed"]
    for one in missed:
        print(f"missed: {kinds.told(one.tried.kind)}: {one.why}\n        {one.tried.again}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(interrupts.answered("mutations", main))
