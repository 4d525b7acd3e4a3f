"""Imitate faults of instruments in recorded runs, and see whether the analysis notices them.

usage: make mutations [KIND=name] [SAMPLE=name] [SEED=number] [N=tries of each kind on each sample]

Each try changes a copy of a recorded run at places drawn by SEED, and analyses it. The verdict:
  noticed   the run is refused or rejected, for a reason that the sound one has not
  harmless  it is accepted, and what is reported moves by less than the limits of comparison.py,
            or is reported as unknown
  missed    it is accepted, and something that is reported is wrong
Prints a Markdown table. Exits with 1 if a fault is missed, with 2 if a variable is invalid.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

from base import interrupts  # noqa: E402

if __name__ == "__main__":
    interrupts.block()  # until everything below is loaded

import shutil  # noqa: E402
import tempfile  # noqa: E402
import zlib  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterable  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from functools import lru_cache  # noqa: E402

import comparison  # noqa: E402
import numpy as np  # noqa: E402
from faults import FAULTS, description  # noqa: E402
from recording import AbsentError, Recording  # noqa: E402

from analysis.run_files.reading import shown  # noqa: E402
from base import progress  # noqa: E402
from base.errors import BadInputError, FileError  # noqa: E402
from commitpath.command_line import arguments, variables  # noqa: E402

SAMPLES = {
    path.name.removesuffix(".tar.xz"): path for path in sorted(HERE.parent.glob("analysis/samples/*.tar.xz"))
}
VERDICTS = ("noticed", "harmless", "missed")
ABSENT = "absent"
LARGEST = {"SEED": 999_999_999, "N": 1000}


@dataclass(frozen=True)
class Try:
    """One fault in one recorded run."""

    kind: str
    sample: str
    seed: int
    number: int

    @property
    def command(self) -> str:
        """Return the command that repeats it, among others."""
        return f"make mutations KIND={self.kind} SAMPLE={self.sample} SEED={self.seed} N={self.number + 1}"


@dataclass(frozen=True)
class Outcome:
    """What a try led to."""

    tried: Try
    verdict: str
    why: str


def tries(given: dict[str, str]) -> list[Try]:
    """Return the tries that the variables ask for. Raises BadInputError."""
    variables.check("mutations", given)
    chosen = []
    for name, allowed in (("KIND", FAULTS), ("SAMPLE", SAMPLES)):
        if name in given and given[name] not in allowed:
            raise BadInputError(f"{name}={given[name]}: no such one; there are {', '.join(allowed)}")
        chosen.append([given[name]] if name in given else list(allowed))
    seed, count = _number(given, "SEED", "1"), _number(given, "N", "3")
    return [Try(kind, sample, seed, n) for kind in chosen[0] for sample in chosen[1] for n in range(count)]


def _number(given: dict[str, str], name: str, default: str) -> int:
    text, largest = given.get(name, default), LARGEST[name]
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(largest))
    if not digits or not 1 <= int(text) <= largest:
        raise BadInputError(f"{name} is {shown(text)}: it is a whole number from 1 to {largest}")
    return int(text)


def unpack(folder: Path) -> None:
    """Unpack all samples, each below its name."""
    for name, path in SAMPLES.items():
        shutil.unpack_archive(path, folder / name)


@lru_cache
def sound(folder: Path) -> comparison.Reported:
    """Return what is reported of a sample as it was recorded."""
    return comparison.reported(folder)


def attempt(tried: Try, unpacked: Path) -> Outcome:
    """Imitate a fault in a copy of a sample, and judge what the analysis reports."""
    words = [tried.seed, tried.number, zlib.crc32(tried.kind.encode()), zlib.crc32(tried.sample.encode())]
    with tempfile.TemporaryDirectory(dir=unpacked) as name:
        folder = Path(shutil.copytree(unpacked / tried.sample / "run", Path(name) / "run"))
        others = [unpacked / sample / "run" for sample in SAMPLES if sample != tried.sample]
        run = Recording(folder, others)
        try:
            FAULTS[tried.kind](run, np.random.default_rng(words))
        except AbsentError as error:
            return Outcome(tried, ABSENT, str(error))
        run.write()
        try:
            before = sound(unpacked / tried.sample / "run")
            return Outcome(tried, *comparison.verdict(before, comparison.reported(folder)))
        except FileError as error:
            return Outcome(tried, "noticed", str(error).removeprefix(f"{folder}/"))
        except Exception as error:  # a fault must lead to one clear line
            return Outcome(tried, "missed", f"the analysis ends with {error!r}")


def run(wanted: list[Try]) -> list[Outcome]:
    """Make all tries."""
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="mutations-") as name:
        unpack(Path(name))
        for tried in wanted:
            outcomes.append(attempt(tried, Path(name)))
            if progress.on_terminal():
                print(f"\rmutations: {len(outcomes)} of {len(wanted)}", end="", file=sys.stderr)
    return outcomes


def table(outcomes: Iterable[Outcome]) -> str:
    """Return the verdicts by kind, as Markdown."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(description(outcome.tried.kind), Counter())[outcome.verdict] += 1
    counts["**all**"] = sum(counts.values(), Counter())
    rows = [[kind, *(str(count[verdict] or "") for verdict in VERDICTS)] for kind, count in counts.items()]
    lines = [["fault", *VERDICTS], ["---", *("--:" for _ in VERDICTS)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    """Run what make asks for."""
    interrupts.unblock()
    try:
        wanted = tries(arguments.read(["mutations", *sys.argv[1:]])[1])
    except BadInputError as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return error.exit_code
    outcomes = run(wanted)
    print(table(outcomes))
    missed = [one for one in outcomes if one.verdict == "missed"]
    for one in missed:
        print(f"missed: {description(one.tried.kind)}: {one.why}\n        {one.tried.command}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(interrupts.run_command("mutations", main))
