"""Compile the flash device's time model for this host, run it with a profile, return commands' latencies."""

import ctypes
import functools
import hashlib
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from base import scratch
from base.errors import BadInputError, LabError
from base.paths import CACHE, ROOT
from images.compiling import hosts_compiler
from model import devices

DRIVER = devices.with_model()
FOLDER = ROOT / "images/devices" / DRIVER
# those that are pure arithmetic
SOURCES = devices.by_name(DRIVER).model_sources
# what sends it a list of commands
LIST = ROOT / "images/flash_commands.c"
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", f"-I{FOLDER}")
SECTORS_PER_MIB = 2048


def build() -> Path:
    """Return the library, compiled unless the cache has it."""
    compiled = [*(FOLDER / name for name in SOURCES), LIST]
    files = sorted([*FOLDER.glob("*.h"), *compiled])
    key = hashlib.sha256(f"{hosts_compiler()} {FLAGS}".encode())
    for file in files:
        key.update(file.read_bytes())
    library = CACHE / "flash-model" / f"{key.hexdigest()[:16]}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with scratch.whole(library) as part:
            words = ["cc", *FLAGS, "-o", str(part), *map(str, compiled)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise LabError(f"the flash model does not compile: {done.stderr.strip()}")
    return library


@functools.cache
def library() -> ctypes.CDLL:
    """Return the loaded library, its functions with their types."""
    loaded = ctypes.CDLL(str(build()))
    u64, pointer = ctypes.c_uint64, ctypes.c_void_p
    for name, result, arguments in (
        ("flash_check", ctypes.c_char_p, [pointer, u64]),
        ("flash_size", u64, [pointer, u64]),
        ("flash_model_init", None, [pointer, pointer, u64]),
        ("flash_read", u64, [pointer, u64, u64, u64]),
        ("flash_write", u64, [pointer, u64, u64, u64, ctypes.c_bool]),
        ("flash_flush", u64, [pointer, u64]),
        ("flash_discard", u64, [pointer, u64, u64, u64]),
        ("flash_commands", None, [pointer, pointer, pointer, pointer]),
    ):
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


@functools.cache
def parameter_names() -> tuple[str, ...]:
    """Return the fields of struct flash_parameters, in their order: FLASH_PARAMETERS of model.h."""
    text = (FOLDER / "model.h").read_text(encoding="utf-8")
    return tuple(re.findall(r"^\tP\((\w+), [01], ", text, re.MULTILINE))


# what images/flash_commands.c counts in each command; a merge is a partial one, too
EVENTS = ("page_read", "map_read", "merge", "switch")


@dataclass(frozen=True)
class CommandList:
    """Commands, one after the other: arrays of struct flash_list in images/flash_commands.c."""

    op: np.ndarray  # bytes
    sector: np.ndarray
    sectors: np.ndarray
    gap_ns: np.ndarray
    host_ns: np.ndarray
    factor: np.ndarray | None = None
    more_ns: np.ndarray | None = None


def checked(profile: Mapping[str, Any]) -> ctypes.Array[ctypes.c_uint64]:
    """Return a profile's parameters. Raises BadInputError if they contradict each other."""
    values = {**profile["geometry"], **profile["timing"]}
    names = parameter_names()
    if missing := set(names) - set(values):
        raise BadInputError(f"not a profile of {DRIVER}: it has no {', '.join(sorted(missing))}")
    given = (ctypes.c_uint64 * len(names))(*(values[name] for name in names))
    if fault := library().flash_check(given, profile["size_mib"] * SECTORS_PER_MIB):
        raise BadInputError(f"the flash model refuses the profile: {fault.decode()}")
    return given


class FlashModel:
    """A device of a profile. Commands come in order of time; each returns its end, in ns."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self.sectors = profile["size_mib"] * SECTORS_PER_MIB
        given = checked(profile)
        self._library = library()
        self._memory = ctypes.create_string_buffer(self._library.flash_size(given, self.sectors))
        self._library.flash_model_init(self._memory, given, self.sectors)

    def _check(self, sector: int, sectors: int) -> None:
        """The model does not check: the block layer of a board does."""
        if sector + sectors > self.sectors:
            raise BadInputError(
                f"sectors {sector} to {sector + sectors} are beyond the device's {self.sectors}"
            )

    def read(self, now: int, sector: int, sectors: int) -> int:
        """Read."""
        self._check(sector, sectors)
        return int(self._library.flash_read(self._memory, now, sector, sectors))

    def write(self, now: int, sector: int, sectors: int, fua: bool = False) -> int:
        """Write."""
        self._check(sector, sectors)
        return int(self._library.flash_write(self._memory, now, sector, sectors, fua))

    def flush(self, now: int) -> int:
        """Flush."""
        return int(self._library.flash_flush(self._memory, now))

    def discard(self, now: int, sector: int, sectors: int) -> int:
        """Discard."""
        self._check(sector, sectors)
        return int(self._library.flash_discard(self._memory, now, sector, sectors))

    def commands(self, given: CommandList) -> tuple[np.ndarray, np.ndarray]:
        """Send a list; return the latency of each command, with the host's time, and its counts of EVENTS."""
        last = int((given.sector + given.sectors).max(initial=0))
        self._check(last, 0)
        latency = np.zeros(given.op.size, np.uint64)
        events = np.zeros((given.op.size, len(EVENTS)), np.uint64)
        kinds = (np.bytes_, *[np.uint64] * 4, np.float64, np.uint64)
        # contiguous copies that live until the call is over
        held: list[np.ndarray | None] = [
            array if array is None else np.ascontiguousarray(array, kind)
            for array, kind in zip(vars(given).values(), kinds, strict=True)
        ]
        fields = [0 if array is None else array.ctypes.data for array in held]
        words = (ctypes.c_uint64 * 8)(given.op.size, *fields)
        self._library.flash_commands(self._memory, words, latency.ctypes.data, events.ctypes.data)
        return latency, events
