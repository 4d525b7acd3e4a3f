"""Properties of a user's kernel, read before it is unpacked."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from base.errors import BadInputError

BLOCK = 1 << 20


@dataclass(frozen=True)
class Found:
    """A kernel that was inspected but not unpacked."""

    what: str  # description for the reader
    release: str  # as in `uname -r`
    content: str  # SHA-256 in hex digits of everything that is booted
    config: str  # its .config
    no_modules: str | None  # why none of our modules can be built for it, or None


def add(digest: "hashlib._Hash", path: Path) -> None:
    """Add a file's content to a digest."""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)


def release_of(text: str, where: str) -> str:
    """Return a kernel's release after checking it, as it becomes part of a path. Raises BadInputError."""
    if not re.fullmatch(r"[0-9][\w.+~-]*", text):
        raise BadInputError(f"{where}: {text!r} is not a kernel release")
    return text
