"""Files of the user's that a cell is made with: what is wrong with one is told before anything is built."""

from pathlib import Path

from base.errors import BadInputError
from model import userfile
from model.statements import sqlfile

# Of a file: it is kept with each run (cell.json).
MOST_BYTES = 2**20
# Of a script: it goes into the board with the cell (images/qemu.py, CELL_ITEM_BYTES).
MOST_SCRIPT_BYTES = 32 * 2**10


def text_of(path: Path, variable: str) -> str:
    """The text of a file that a variable names; BadInputError if it is none."""
    if not path.exists():
        raise BadInputError(f"{variable}{path}: no such file")
    if not path.is_file():
        raise BadInputError(f"{variable}{path}: not a file")
    try:
        size, content = path.stat().st_size, b""
        if size <= MOST_BYTES:
            content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{variable}{path}: {error.strerror}") from error
    if size > MOST_BYTES:
        raise BadInputError(f"{variable}{path}: {size} bytes; a file has at most {MOST_BYTES}")
    if not content.strip():
        raise BadInputError(f"{variable}{path}: the file is empty")
    if (place := content.find(0)) >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise BadInputError(f"{variable}{path}: line {line}: a NUL byte; the file is to be text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInputError(f"{variable}{path}: line {line}: not UTF-8") from None


def script(path: Path) -> str:
    """The script that OBSERVERS names; BadInputError says what none may have."""
    text = text_of(path, "OBSERVERS=all,")
    if (size := len(text.encode())) > MOST_SCRIPT_BYTES:
        raise BadInputError(f"OBSERVERS=all,{path}: {size} bytes; a script has at most {MOST_SCRIPT_BYTES}")
    return text


def transactions(path: Path, kind: str) -> tuple[str, sqlfile.SqlFile]:
    """The text that FILE names, of a kind of model/userfile.py, and its parts.

    BadInputError says what no such file may have.
    """
    text = text_of(path, "FILE=")
    try:
        parts = userfile.parts({kind: text})
    except sqlfile.SqlFileError as error:
        raise BadInputError(f"FILE={path}: {error}") from None
    return text, parts
