"""Debian's QEMU beside ours (make emulator): the race of its clock, and its speed: `make bench-emulator`.

usage: emulator.py [RESTORES [PAIRS]]    200 and 10 if left out; RESTORES 0 leaves the race out
       emulator.py RESTORES PAIRS NAME=PROGRAM...    the same of builds of yours, their speed alone only

Race: one snapshot of FS=f2fs MODE=wal DEVICE=galaxy-nexus ROWS=1000 N=300 PROBES=none is restored
RESTORES times by each emulator, two boards at once beside a busy loop for each CPU. A run is another
where its device's log or its transactions are not, byte for byte, those of most.

Speed: the default cell on galaxy-nexus, PAIRS times by each in turn: alone, two at once, and beside
two busy loops. Virtual seconds are the driver's, from the first transaction to the last.
"""

import csv
import io
import os
import resource
import statistics
import sys
import tarfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from repeat import busy  # noqa: E402

from analysis.adapters.device_logs import flashsim  # noqa: E402
from base.errors import LabError  # noqa: E402
from commitpath.boards.payload import payload  # noqa: E402
from commitpath.boards.prepared import ensure_snapshot, virtual_board  # noqa: E402
from commitpath.cells.from_variables import make_cell  # noqa: E402
from commitpath.host import ansible  # noqa: E402
from images import emulator, programs, qemu  # noqa: E402
from images.board import VirtualBoard  # noqa: E402
from images.cellrun import RunOutput  # noqa: E402

LIMIT_SECONDS = 900.0
RACE = {"FS": "f2fs", "MODE": "wal", "DEVICE": "galaxy-nexus", "ROWS": "1000", "N": "300", "PROBES": "none"}
SPEED = {"DEVICE": "galaxy-nexus", "PROBES": "none"}


@dataclass(frozen=True)
class Case:
    """A cell's snapshot and what a board gets to run it."""

    board: VirtualBoard
    saved: Path
    files: dict[str, bytes]

    @classmethod
    def of(cls, variables: dict[str, str]) -> "Case":
        cell, entry = make_cell(variables), ansible.board("virtual")
        saved = ensure_snapshot(cell, programs.driver(cell), entry)
        return cls(virtual_board(cell), saved, payload(cell))

    def run(self, program: str) -> RunOutput:
        return replace(self.board, program=program).run_cell(self.saved, self.files, LIMIT_SECONDS)


def member(output: RunOutput, name: str) -> bytes:
    """A raw file of a run."""
    with tarfile.open(fileobj=io.BytesIO(output.tar)) as tar:
        file = tar.extractfile(name)
        if file is None:
            raise LabError(f"the board sent no {name}")
        return file.read()


def results(output: RunOutput) -> tuple[bytes, bytes]:
    """What must be the same in each run: the device's log and the transactions."""
    return member(output, "raw/device.bin"), member(output, "raw/driver/transactions.csv")


def transactions_ns(content: bytes) -> tuple[int, int]:
    """(begin, end) of the transactions."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    return int(rows[0]["begin_ns"]), int(rows[-1]["end_ns"])


def commands(log: bytes) -> list[tuple[int, ...]]:
    """The commands of a device's log, in order."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "device.bin"
        path.write_bytes(log)
        return [tuple(entry.tolist()) for entry in flashsim.read_log(path).entries]


def race(programs: dict[str, str], restores: int) -> None:
    case = Case.of(RACE)
    print("| QEMU | restores | different | late at the end, µs | first at command |\n|---|---|---|---|---|")
    usual: tuple[bytes, bytes] | None = None
    for name, program in programs.items():
        with busy(os.cpu_count() or 1), ThreadPoolExecutor(2) as pool:
            found = Counter(pool.map(lambda one: results(case.run(one)), [program] * restores))
        most, _ = found.most_common(1)[0]
        usual = usual or most
        others = [one for one in found.elements() if one != usual]
        _, end = transactions_ns(usual[1])
        late = sorted((transactions_ns(one[1])[1] - end) / 1000 for one in others)
        firsts = []
        for log, _ in others:
            pairs = zip(commands(usual[0]), commands(log), strict=False)
            firsts.append(next((number for number, (a, b) in enumerate(pairs) if a != b), -1))
        words = (", ".join(f"{value:g}" for value in late) or "-", ", ".join(map(str, firsts)) or "-")
        print(f"| {name} | {restores} | {len(others)} | {words[0]} | {words[1]} |", flush=True)


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# How, boards at once, busy loops beside them.
LOADS = (("alone", 1, 0), ("two at once", 2, 0), ("beside 2 busy loops", 1, 2))


def speed(
    programs: dict[str, str], pairs: int, loads: tuple[tuple[str, int, int], ...]
) -> dict[str, list[tuple[bytes, bytes]]]:
    """Print what a run takes by each emulator; the results of each."""
    case = Case.of(SPEED)
    seen: dict[str, list[tuple[bytes, bytes]]] = {name: [] for name in programs}
    print("| | QEMU | CPU s | wall s | virtual s per wall s | of the first |\n|---|---|---|---|---|---|")
    for how, boards, loops in loads:
        took: dict[str, list[tuple[float, float, float]]] = {name: [] for name in programs}
        with busy(loops), ThreadPoolExecutor(boards) as pool:
            for _ in range(pairs):
                for name, program in programs.items():
                    began, cpu = time.monotonic(), cpu_seconds()
                    outputs = list(pool.map(case.run, [program] * boards))
                    wall, cpu = time.monotonic() - began, cpu_seconds() - cpu
                    seen[name] += [results(output) for output in outputs]
                    begin, end = transactions_ns(results(outputs[0])[1])
                    run = statistics.mean(output.timed[1] - output.timed[0] for output in outputs)
                    took[name].append((cpu / boards, wall, (end - begin) / 1e9 / run))
        first = 0.0
        for name, rows in took.items():
            cpu, wall, rate = (statistics.median(column) for column in zip(*rows, strict=True))
            first = first or wall
            print(
                f"| {how} | {name} | {cpu:.2f} | {wall:.2f} | {rate:.2f} | {wall / first:.2f} |", flush=True
            )
    return seen


def main(restores: str = "200", pairs: str = "10", *builds: str) -> int:
    if any("=" not in build for build in builds):
        sys.exit(__doc__)
    ours = emulator.built()
    if not ours and not builds:
        sys.exit("bench: our QEMU is not there; `make emulator` builds it")
    programs = dict(build.split("=", 1) for build in builds) or {"Debian's": qemu.QEMU, "ours": str(ours)}
    for name, program in programs.items():
        print(f"{name}: {qemu.qemu_version(program)}")
    if int(restores):
        race(programs, int(restores))
    seen = speed(programs, int(pairs), LOADS[:1] if builds else LOADS)
    # Debian's is known to be late now and then; the last is ours
    last = [*programs][-1]
    usual = Counter(seen[last]).most_common(1)[0][0]
    other = {name: sum(one != usual for one in found) for name, found in seen.items()}
    for name, found in seen.items():
        print(f"{name}: {other[name]} of {len(found)} results are not those of most of {last}")
    return 1 if other[last] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
