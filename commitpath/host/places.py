"""Refuse unusable paths of checkout, cache, results and new files; mark the cache, remove leftovers."""

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

# Characters that quoting does not protect: virtual environments and PATH end a name at a colon, Ansible
# expands {{ in a variable, ssh ${ in a file's name. Also in playbooks/bootstrap.sh.
REFUSED = ":${}"
# Commands that write to results/, or to the database in it, which the first reader creates.
RUNS = ("experiment", "watch", "bisect", "trend", "sweep", "reproduce", "calibrate", "profile")
TO_RESULTS = (
    *(*RUNS, "results", "export", "artifact", "import", "compare", "advise", "figure", "table", "durability"),
    *("setup-text", "report-card"),
)
TO_CACHE = (*RUNS, "advise", "board", "board-check", "emulator", "host", "demo", "plan")
# A file of the cache (https://bford.info/cachedir): backups skip the folder, and its last line identifies
# commitpath's cache.
TAG = "CACHEDIR.TAG"
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# commitpath's cache; `make destroy` empties it\n"
# Names of the cache's entries, with a hash of their inputs or fixed.
HASHED = re.compile(r"[a-z][a-z0-9_.-]*-[0-9a-f]{12}(\.[a-z]+)?(\.lock)?")
NAMED = re.compile(
    r"sqlite|ccache|mypy|demo|snapshots|tests|vm|log|ansible|keys(\.lock)?|board-.+\.lock|CACHEDIR\.TAG"
)


def begin(command: str) -> None:
    """Refuse folders in which the command cannot work; remove leftovers of killed commands.

    Raises BadInputError.
    """
    places = {"": ROOT, "COMMITPATH_CACHE": CACHE, "COMMITPATH_RESULTS": RESULTS}
    for variable, path in places.items():
        check_name(path, f"{variable}=" if variable and variable in os.environ else "")
    for what, path in {"the checkout": ROOT, "COMMITPATH_RESULTS": RESULTS}.items():
        # Path.resolve raises at a link to itself, which check_writable reports
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(CACHE)):
            raise BadInputError(f"COMMITPATH_CACHE={CACHE}: {what} is in it; name a folder of its own")
    if command in TO_RESULTS:
        check_writable(RESULTS, "COMMITPATH_RESULTS=<folder> names another")
        scratch.sweep(RESULTS.resolve(), 3)
        # lab, cell, run, and files in that
        scratch.sweep(RESULTS.resolve() / "imported", 4)
    latest = RESULTS / "latest"
    # as a copy that followed links has it
    if command in RUNS and os.path.lexists(latest) and not latest.is_symlink():
        raise BadInputError(f"{latest}: not the link to the newest run; rename or remove it")
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
    """Refuse a folder that is neither commitpath's cache nor empty."""
    with contextlib.suppress(OSError):
        # opening a FIFO would block
        if (cache / TAG).is_file() and (cache / TAG).read_text() == TAG_TEXT:
            return
    # without the scratch file of a tag that another call is writing
    names = sorted(path.name for path in cache.iterdir() if not scratch.FILE.fullmatch(path.name))
    others = [name for name in names if not is_made(name)]
    # fixed names such as `log` alone prove nothing
    if others or (names and not any(HASHED.fullmatch(name) for name in names)):
        raise BadInputError(
            f"COMMITPATH_CACHE={cache}: {(others or names)[0]!r} is in it, without commitpath's {TAG}: it "
            "is not a cache that commitpath made; name a new or an empty folder"
        )


def is_made(name: str) -> bool:
    """Return whether a name is one of commitpath's in its cache."""
    return any(pattern.fullmatch(name) for pattern in (HASHED, NAMED, scratch.FOLDER, scratch.FILE))


def check_name(path: Path, variable: str) -> None:
    """Refuse a path with characters that tools misinterpret. variable: for the message."""
    text = str(path)
    if refused := sorted(
        {character for character in text if character in REFUSED or not character.isprintable()}
    ):
        shown = " ".join(repr(character)[1:-1] for character in refused)
        raise BadInputError(
            f"{variable}{text!r}: a path with {shown} does not work; it may have any printable "
            f"characters but {' '.join(REFUSED)}"
        )


def check_runs(cells: Iterable[Cell]) -> None:
    """Refuse cells with runs that could not be stored."""
    for name in {cell_name(cell) for cell in cells}:
        check_writable(RESULTS / name, "remove it, or make it writable")


def new_file(variable: str, text: str, suffix: str = "") -> Path:
    """Return the new file that a variable names. BadInputError if it exists or cannot be written.

    suffix: the end that its name must have.
    """
    if not text:
        raise BadInputError(f"{variable}=: name a new file")
    if not text.endswith(suffix):
        raise BadInputError(f"{variable}={text}: unsupported suffix; use {suffix}")
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
    """Refuse a folder in which nothing can be written; a missing one is not made, but checked above it."""
    if folder.is_symlink() and not folder.exists():
        raise BadInputError(f"{folder}: a link to {folder.readlink()}, which is not there; {remedy}")
    above = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not above.is_dir():
        raise BadInputError(f"{above}: not a folder; {remedy}")
    try:
        # has no name, so that a kill leaves nothing
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise BadInputError(f"{above}: nothing can be written there ({error.strerror}); {remedy}") from error
