"""Which of the host's CPUs boards work on, and what it is worth: `python tests/bench/cores.py [PAIRS]`.

The default cell on galaxy-nexus, PAIRS times (5 if left out) in turn with a CPU of each board's own
(images/cpus.py) and wherever the host's scheduler puts it: alone and two at once, and each of them beside a
`make -j2` that compiles, in a session of its own as a user's is. Wall seconds have the restore and
the end of the board in them.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

from emulator import SPEED, Case

from images import cpus, emulator, qemu

# A compiler's second of work, again and again, two at once.
MAKEFILE = """\
all: one two
one two:
\twhile :; do $(CC) -O2 -x c -c -o $@.o source || exit; done
"""
FUNCTION = "int f{0}(int *a, int n) {{ int s = 0; for (int i = 0; i < n; i++) s += a[i] * {0}; return s; }}\n"


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Beside a `make -j2` in a session of its own."""
    with TemporaryDirectory() as folder:
        Path(folder, "Makefile").write_text(MAKEFILE)
        Path(folder, "source").write_text("".join(FUNCTION.format(number) for number in range(500)))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        make = subprocess.Popen(["make", "-s", "-j2", "-C", folder], env=environment, start_new_session=True)
        try:
            yield
            if make.poll() is not None:
                sys.exit("bench: the make beside the boards ended")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(make.pid, 9)
            make.wait()


@contextlib.contextmanager
def anywhere() -> Iterator[set[int]]:
    """What own_cpu is without its choice."""
    yield os.sched_getaffinity(0)


LOADS: tuple[tuple[str, int, Callable[[], contextlib.AbstractContextManager[None]]], ...] = (
    ("alone", 1, contextlib.nullcontext),
    ("two at once", 2, contextlib.nullcontext),
    ("beside make -j2", 1, compiling),
    ("two at once beside make -j2", 2, compiling),
)
PLACES = {"a CPU of its own": cpus.own_cpu, "anywhere": anywhere}


def main(pairs: str = "5") -> int:
    case, program = Case.of(SPEED), str(emulator.built() or qemu.QEMU)
    print(qemu.qemu_version(program))
    print(f"| | {' | '.join(PLACES)} | ratio |\n|---|" + "---|" * (len(PLACES) + 1))
    for how, boards, beside in LOADS:
        took: dict[str, list[float]] = {name: [] for name in PLACES}
        with beside(), ThreadPoolExecutor(boards) as pool:
            for _ in range(int(pairs)):
                for name, place in PLACES.items():
                    with mock.patch.object(qemu, "own_cpu", place):
                        began = time.monotonic()
                        list(pool.map(case.run, [program] * boards))
                        took[name].append(time.monotonic() - began)
        own, other = (statistics.median(seconds) for seconds in took.values())
        print(f"| {how} | {own:.2f} | {other:.2f} | {own / other:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
