"""SQLITE=tree:<folder>: check a user's own sqlite3.c and sqlite3.h; name them by version and hash in a cell.

A cell names it by its version and content, `3.46.1+0123456789ab`, wherever the folder is.
"""

import functools
import re
from pathlib import Path

from base.errors import BadInputError
from commitpath.cells.axes import releases, version_key
from images import artifacts

PREFIX = "tree:"
FILES = ("sqlite3.c", "sqlite3.h")
VERSION = re.compile(rb'^#define SQLITE_VERSION\s+"([0-9]+(?:\.[0-9]+)+)"', re.MULTILINE)


# Cached: a grid makes hundreds of cells, and the sources have 10 MB.
@functools.cache
def look(path: str) -> str:
    """Return the name in a cell of the SQLite in a folder. Raises BadInputError."""
    if not path:
        raise BadInputError(f"SQLITE={PREFIX}: no folder; the current one is SQLITE={PREFIX}.")
    folder, where = Path(path).expanduser().absolute(), f"SQLITE={PREFIX}{path}"
    if not folder.is_dir():
        raise BadInputError(f"{where}: no such folder; it must have SQLite's {' and '.join(FILES)}")
    sources = dict[str, bytes]()
    for name in FILES:
        if not (folder / name).is_file():
            raise BadInputError(f"{where}: {name} is missing (`./configure && make sqlite3.c` makes it)")
        try:
            sources[name] = (folder / name).read_bytes()
        except OSError as error:
            raise BadInputError(f"{where}: {name} cannot be read: {error.strerror}") from error
    versions = {name: match[1] if (match := VERSION.search(text)) else None for name, text in sources.items()}
    if (version := versions["sqlite3.h"]) is None:
        raise BadInputError(f"{where}: its sqlite3.h defines no SQLITE_VERSION")
    if versions["sqlite3.c"] != version:
        raise BadInputError(f"{where}: its sqlite3.c and sqlite3.h are of different versions")
    oldest = min(releases(), key=version_key)
    if version_key(version.decode()) < version_key(oldest):
        raise BadInputError(f"{where}: it is {version.decode()}; the oldest that runs here is {oldest}")
    return artifacts.remember("sqlite", version.decode(), sources)
