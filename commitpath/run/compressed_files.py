"""What the host compresses of a run's raw files: the same content gives the same file."""

import gzip
import shutil
from pathlib import Path

import zstandard

from commitpath.cells import observers
from model.expected_state import sampled as sampled_trials

# The versions of a page that are written one after the other are alike but for some of their bytes, and
# megabytes apart: a window as large as any reader of zstd takes, searched for long matches. Of the default
# cell's 238.6 MB that leaves 1.80 MB in 0.7 s; level 3 leaves 1.83 MB in 0.8 s, level 9 1.81 MB in 1.6 s,
# and level 3 without long matches 3.21 MB in 0.1 s.
WINDOW_LOG, LEVEL = 27, 1
CHUNK = 1 << 20


def rendered(folder: Path) -> None:
    """Compress what the driver gave its engine: megabytes of SQL that are alike; a failed run has none."""
    file = folder / "rendered"
    if file.is_file():
        zipped(file)


def sampled(raw: Path) -> None:
    """Compress the databases' files that a board of trials kept."""
    for folder in sampled_trials.folders(raw):
        for file in folder.iterdir():
            if file.name != sampled_trials.UNREAD:
                zipped(file)


def zipped(file: Path) -> None:
    """Put NAME.gz in a file's place."""
    # no time of now is in it
    into = file.with_name(f"{file.name}.gz")
    with file.open("rb") as content, gzip.GzipFile(into, "wb", 1, mtime=0) as packed:
        shutil.copyfileobj(content, packed, CHUNK)
    file.unlink()


def observed(raw: Path) -> None:
    """Compress the files of observers that their profiles name (`packs`): NAME.bin becomes NAME.zst."""
    for profile in observers.profiles().values():
        file = raw / profile.get("packs", "")
        if file.is_file():
            compress(file, file.with_suffix(".zst"))
            file.unlink()


def compress(file: Path, into: Path) -> None:
    """One frame of zstd, which says how long its content is."""
    given = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW_LOG, enable_ldm=True)
    with file.open("rb") as content, into.open("wb") as packed:
        size = file.stat().st_size
        zstandard.ZstdCompressor(compression_params=given).copy_stream(content, packed, size, CHUNK, CHUNK)
