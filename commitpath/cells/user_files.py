"""Read and check a user's files, scripts and transactions, before anything is built."""

from pathlib import Path

from base.errors import BadInputError
from model import userfile
from model.statements import sqlfile

# Of a file, as each run stores it (cell.json).
MOST_BYTES = 2**20
# Of a script, as it is sent with the cell (images/qemu.py, CELL_ITEM_BYTES).
MOST_SCRIPT_BYTES = 32 * 2**10


def text_of(path: Path, variable: str) -> str:
    """Return the text of a user's file. variable: for messages. Raises BadInputError."""
    if not path.is_file():
        raise BadInputError(f"{variable}{path}: {'not a file' if path.exists() else 'no such file'}")
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise BadInputError(f"{variable}{path}: {size} bytes; a file has at most {MOST_BYTES}")
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{variable}{path}: {error.strerror}") from error
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
    """Return the text of the script that OBSERVERS names. Raises BadInputError."""
    text = text_of(path, "OBSERVERS=all,")
    if (size := len(text.encode())) > MOST_SCRIPT_BYTES:
        raise BadInputError(f"OBSERVERS=all,{path}: {size} bytes; a script has at most {MOST_SCRIPT_BYTES}")
    return text


def transactions(path: Path, kind: str) -> tuple[str, sqlfile.SqlFile]:
    """Return the text that FILE names and its parts. kind: of model/userfile.py. Raises BadInputError."""
    text = text_of(path, "FILE=")
    try:
        parts = userfile.parts({kind: text})
    except sqlfile.SqlFileError as error:
        raise BadInputError(f"FILE={path}: {error}") from None
    return text, parts
