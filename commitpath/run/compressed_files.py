"""Compress a run's large raw files: rendered SQL, sampled databases, observers' files; repeatable bytes."""

import gzip
import shutil
from pathlib import Path

import zstandard

from commitpath.cells import observers
from model.expected_state import sampled as sampled_trials

# Successive versions of a page differ in a few bytes and are megabytes apart: so long matches, in the largest
# window that any reader of zstd accepts. The default cell's 238.6 MB become 1.80 MB in 0.7 s; level 3 makes
# 1.83 MB in 0.8 s, level 9 1.81 MB in 1.6 s, and level 3 without long matches 3.21 MB in 0.1 s.
WINDOW_LOG, LEVEL = 27, 1
CHUNK = 1 << 20


def compress_rendered(folder: Path) -> None:
    """Compress the driver's rendered transactions, if the run has them: megabytes of similar SQL."""
    file = folder / "rendered"
    if file.is_file():
        gzip_file(file)


def compress_sampled(raw: Path) -> None:
    """Compress the databases that a board of trials kept."""
    for folder in sampled_trials.folders(raw):
        for file in folder.iterdir():
            if file.name != sampled_trials.UNREAD:
                gzip_file(file)


def gzip_file(file: Path) -> None:
    """Replace a file by NAME.gz, which has no time in it."""
    into = file.with_name(f"{file.name}.gz")
    with file.open("rb") as content, gzip.GzipFile(into, "wb", 1, mtime=0) as packed:
        shutil.copyfileobj(content, packed, CHUNK)
    file.unlink()


def compress_observed(raw: Path) -> None:
    """Compress the files of observers that their profiles name (`packs`): NAME.bin becomes NAME.zst."""
    for profile in observers.profiles().values():
        file = raw / profile.get("packs", "")
        if file.is_file():
            compress(file, file.with_suffix(".zst"))
            file.unlink()


def compress(file: Path, into: Path) -> None:
    """Write one frame of zstd, with the length of its content."""
    given = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW_LOG, enable_ldm=True)
    with file.open("rb") as content, into.open("wb") as packed:
        size = file.stat().st_size
        zstandard.ZstdCompressor(compression_params=given).copy_stream(content, packed, size, CHUNK, CHUNK)
