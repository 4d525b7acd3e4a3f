"""Where commitpath works and keeps what it makes; looked at before a command begins."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from base import scratch
from base.errors import BadInputError
from base.paths import CACHE, RESULTS, ROOT
from commitpath.cells.identities import cell_name
from model.cell import Cell

# What no quoting gets past: Python's environments and PATH end a folder's name at a colon, Ansible
# reads {{ in a variable, ssh ${ in a file's name. playbooks/bootstrap.sh knows them too.
REFUSED = ":${}"
# Commands that write to results/, or to the database in it, which a first reader makes.
TO_RESULTS = (
    "experiment",
    "watch",
    "sweep",
    "reproduce",
    "calibrate",
    "results",
    "export",
    "import",
    "compare",
)
TO_CACHE = (
    "experiment",
    "watch",
    "sweep",
    "reproduce",
    "calibrate",
    "advise",
    "board",
    "board-check",
    "emulator",
    "host",
    "demo",
    "plan",
)
# In the cache, as https://bford.info/cachedir has it: backups pass over the folder, and by its
# last line commitpath knows a cache of its own.
TAG = "CACHEDIR.TAG"
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# commitpath's cache; `make destroy` empties it\n"
# What is made in it: under a hash of its inputs, or under a name of its own.
HASHED = re.compile(r"[a-z][a-z0-9_.-]*-[0-9a-f]{12}(\.[a-z]+)?(\.lock)?")
NAMED = re.compile(r"sqlite|demo|snapshots|tests|vm|log|ansible|keys(\.lock)?|board-.+\.lock|CACHEDIR\.TAG")


def begin(command: str) -> None:
    """BadInputError where the command could not work, or could not keep what it makes.

    And what a killed one left half-made is removed.
    """
    places = {"": ROOT, "COMMITPATH_CACHE": CACHE, "COMMITPATH_RESULTS": RESULTS}
    for variable, path in places.items():
        check_name(path, f"{variable}=" if variable and variable in os.environ else "")
    for what, path in {"the checkout": ROOT, "COMMITPATH_RESULTS": RESULTS}.items():
        # Path.resolve raises at a link that leads to itself, which check_writable names
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(CACHE)):
            raise BadInputError(f"COMMITPATH_CACHE={CACHE}: {what} is in it; name a folder of its own")
    if command in TO_RESULTS:
        check_writable(RESULTS, "COMMITPATH_RESULTS=<folder> names another")
        scratch.sweep(RESULTS.resolve(), 3)
        # lab, cell, run, and what is made in that
        scratch.sweep(RESULTS.resolve() / "imported", 4)
    if command in TO_CACHE:
        check_writable(CACHE, "COMMITPATH_CACHE=<folder> names another")
        CACHE.mkdir(parents=True, exist_ok=True)
        check_cache(CACHE)
        if not (CACHE / TAG).exists():
            with scratch.whole(CACHE / TAG) as part:
                part.write_text(TAG_TEXT)
        scratch.sweep(CACHE.resolve(), 2)
        scratch.sweep(Path(tempfile.gettempdir()), 1)


def check_cache(cache: Path) -> None:
    """BadInputError unless a folder is commitpath's cache, or has nothing in it."""
    with contextlib.suppress(OSError):
        # to open a FIFO waits
        if (cache / TAG).is_file() and (cache / TAG).read_text() == TAG_TEXT:
            return
    # another call may just be writing the mark
    names = sorted(path.name for path in cache.iterdir() if not scratch.FILE.fullmatch(path.name))
    others = [name for name in names if not is_made(name)]
    # a folder `log` or `keys` alone may be anybody's
    if others or (names and not any(HASHED.fullmatch(name) for name in names)):
        raise BadInputError(
            f"COMMITPATH_CACHE={cache}: {(others or names)[0]!r} is in it, and no {TAG} of commitpath's: it "
            "is not a cache that commitpath made; name a new or an empty folder"
        )


def is_made(name: str) -> bool:
    """Whether it is the name of something that commitpath makes in its cache."""
    return any(pattern.fullmatch(name) for pattern in (HASHED, NAMED, scratch.FOLDER, scratch.FILE))


def check_name(path: Path, said: str) -> None:
    """Refuse a path with a character that a tool under us takes for something else."""
    text = str(path)
    found = sorted({character for character in text if character in REFUSED or not character.isprintable()})
    if found:
        shown = " ".join(repr(character)[1:-1] for character in found)
        raise BadInputError(
            f"{said}{text!r}: a path with {shown} does not work; it may have any printable "
            f"characters but {' '.join(REFUSED)}"
        )


def check_runs(cells: Iterable[Cell]) -> None:
    """BadInputError where a run of one of the cells could not be kept."""
    for name in {cell_name(cell) for cell in cells}:
        check_writable(RESULTS / name, "remove it, or make it writable")


def new_file(variable: str, text: str) -> Path:
    """The file that a variable names, which is to be made; BadInputError where it is there, or cannot be."""
    if not text:
        raise BadInputError(f"{variable}=: name a new file")
    if not text.isprintable():
        raise BadInputError(f"{variable}={text!r}: name one of printable characters")
    path = Path(text)
    if not path.parent.is_dir():
        raise BadInputError(f"{variable}={path}: there is no folder {path.parent}")
    try:
        os.lstat(path)
    except FileNotFoundError:
        check_writable(path.parent, f"{variable} names a file elsewhere")
        return path
    except OSError as error:
        raise BadInputError(f"{variable}={path}: {error.strerror}; name another file") from error
    raise BadInputError(f"{variable}={path}: it exists already; nothing is overwritten")


def check_writable(folder: Path, remedy: str) -> None:
    """Refuse a folder in which nothing can be made; one that is not there yet is not made."""
    if folder.is_symlink() and not folder.exists():
        raise BadInputError(f"{folder}: a link to {folder.readlink()}, which is not there; {remedy}")
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise BadInputError(f"{there}: not a folder; {remedy}")
    try:
        # has no name, so that a kill leaves nothing
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise BadInputError(f"{there}: nothing can be written there ({error.strerror}); {remedy}") from error
