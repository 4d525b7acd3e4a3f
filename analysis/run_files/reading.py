"""Read run files strictly: text, JSON by schema, name=value; errors name the line."""

from pathlib import Path
from typing import Any

from analysis.schemas import documents
from base import strict_json
from base.errors import FileError
from base.raw_files import check_regular

# Longest text shown in an error, in characters.
SHOWN = 80


def read_text(path: Path, *, whole_lines: bool = True) -> str:
    """Return the text of `path`; bytes that are not UTF-8 become U+FFFD.

    Raises FileError if the file is missing, or (with `whole_lines`) if its last line has no
    newline, as in a truncated file.
    """
    check_regular(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    if whole_lines and data and not data.endswith(b"\n"):
        line = data.count(b"\n") + 1
        raise FileError(path, f"line {line}", "the last line has no end", "a whole file")
    return data.decode("utf-8", errors="replace")


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`. Raises FileError if it is anything else."""
    try:
        value = strict_json.parse(read_text(path, whole_lines=False))
    except strict_json.UnfitError as error:
        raise FileError(path, "", str(error), "one JSON object of text and numbers of 64 bits") from None
    if not isinstance(value, dict):
        raise FileError(path, "line 1", f"a JSON {type(value).__name__}", "one JSON object")
    return value


def read_document(path: Path, name: str) -> dict[str, Any]:
    """Return the JSON object in `path`, checked against `name` of schema.yml. Raises FileError."""
    value = read_json(path)
    try:
        documents.check(name, value)
    except strict_json.UnfitError as error:
        raise FileError(path, "", str(error), "see docs/reference/formats.md") from None
    return value


def integer(path: Path, line: int, name: str, text: str) -> int:
    """Return `text` as an integer that fits in 64 bits, or raise FileError."""
    digits = text[1:] if text.startswith("-") else text
    # int() takes no more than 4300 digits
    few = digits.isascii() and digits.isdigit() and len(digits) <= len(str(2**63))
    if not few or not -(2**63) <= int(text) < 2**63:
        raise FileError(path, f"line {line}", f"{name} is {shown(text)}", "a 64-bit integer")
    return int(text)


def shown(text: str) -> str:
    """Return the text in quotes, truncated to SHOWN characters."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


def read_pairs(path: Path) -> dict[str, str]:
    """Return the `name=value` lines of `path`. Raises FileError at a line without `=`."""
    pairs: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        name, equals, value = line.partition("=")
        if not equals:
            raise FileError(path, f"line {number}", f"no '=' in {line[:SHOWN]!r}", "name=value")
        pairs[name.strip()] = value.strip()
    return pairs
