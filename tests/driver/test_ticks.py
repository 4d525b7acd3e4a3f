"""The counter behind the clock: its ticks in nanoseconds, whatever its frequency."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WORKLOADS = Path(__file__).resolve().parents[2] / "workloads"
CLOCK = "return clock_now();"


def build(folder, counter=CLOCK):
    """ticks.c as a library, with another counter than this host's clock."""
    for name in ("ticks.c", "ticks.h", "clock.h", "fail.c", "fail.h", "output.c", "output.h"):
        shutil.copy(WORKLOADS / name, folder)
    header = (folder / "ticks.h").read_text()
    assert header.count(CLOCK) == 1
    (folder / "ticks.h").write_text(header.replace("#ifdef __aarch64__", "#if 0").replace(CLOCK, counter))
    source = (folder / "ticks.c").read_text()
    (folder / "ticks.c").write_text(source.replace("#ifdef __aarch64__", "#if 0"))
    flags = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    library = folder / "ticks.so"
    subprocess.run(["cc", *flags, "-o", library, *sorted(folder.glob("*.c"))], check=True)
    return library


@pytest.fixture(scope="module")
def ticks(tmp_path_factory):
    loaded = ctypes.CDLL(str(build(tmp_path_factory.mktemp("ticks"))))
    loaded.ticks_span_ns.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    loaded.ticks_to_ns.argtypes = [ctypes.c_uint64]
    loaded.ticks_span_ns.restype = loaded.ticks_to_ns.restype = ctypes.c_uint64
    return loaded


# of the virtual board, of a Raspberry Pi 4, of many phones, and the counter of a host that has none
@pytest.mark.parametrize("hertz", [62_500_000, 54_000_000, 19_200_000, 1_000_000_000])
def test_a_span_is_exact(ticks, hertz):
    year = 366 * 86400 * hertz
    for count in (0, 1, 7, hertz - 1, hertz, 10 * hertz + 3, year + hertz - 1):
        assert ticks.ticks_span_ns(count, hertz) == count * 1_000_000_000 // hertz


def test_a_tick_is_the_clocks_time(ticks):
    """Here the counter is the clock; on the board tests/board -k clocks has it."""
    ticks.ticks_begin()
    ticks.ticks_end()
    assert abs(ticks.ticks_to_ns(10**18) - 10**18) < 1000


def test_a_clock_that_somebody_turned_is_told_of(tmp_path):
    """0.1 % in 50 ms is 50 us."""
    library = build(tmp_path, "return clock_now() + clock_now() / 1000;")
    script = (
        f"import ctypes, time; t = ctypes.CDLL({str(library)!r}); t.ticks_begin(); time.sleep(0.05); "
        "t.ticks_end(); t.ticks_to_ns(0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "CLOCK_MONOTONIC went -" in done.stderr and len(done.stderr.splitlines()) == 1
