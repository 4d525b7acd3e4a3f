"""What is found of a kernel that a user has."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from base.errors import BadInputError

BLOCK = 1 << 20


@dataclass(frozen=True)
class Found:
    """A kernel, before anything is unpacked."""

    what: str  # for who reads it
    release: str  # as `uname -r` has it
    content: str  # SHA-256 in hex digits of all that is booted
    config: str  # its .config
    no_modules: str | None  # why no module of ours can be built for it; None: one can


def add(digest: "hashlib._Hash", path: Path) -> None:
    """Put a file's content into a digest."""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)


def release_of(text: str, where: str) -> str:
    """A kernel's release as it stands somewhere. BadInputError where it cannot be one: it becomes a path."""
    if not re.fullmatch(r"[0-9][\w.+~-]*", text):
        raise BadInputError(f"{where}: {text!r} is no kernel's release")
    return text
