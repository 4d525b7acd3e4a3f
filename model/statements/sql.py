"""Parse a transaction that the driver rendered as SQL: its operations, and the bytes of its values."""

import re

from model.operations import Transaction

_OPERATIONS = {
    b"INSERT": "insert",
    b"UPDATE": "update",
    b"DELETE": "delete",
    b"SELECT": "read",
    b"CREATE": "create",
    b"DROP": "drop",
}
# Statements with values; a column `id` is the row's key. A text has letters, digits and blanks.
_VALUE = rb"(?:'[\w ]*'|[0-9]+)"
_SET = rb"\w+ ?= ?(?:" + _VALUE + rb"|\w+\*[0-9]+)"
_INSERT = re.compile(
    rb"INSERT INTO \w+(?:\((id,)?[\w,]+\))? (?:VALUES\((%b(?:,%b)*)\)|SELECT [\w ,]+)" % (_VALUE, _VALUE)
)
_UPDATE = re.compile(rb"UPDATE \w+ SET (%b(?:,%b)*) WHERE [\w <>=]+" % (_SET, _SET))
_READ_MODIFY_WRITE = [b"SELECT", b"UPDATE"]
# Most bytes of a statement without its values; the workloads here have at most 250.
_TEXT = 400
# Most bytes of a statement's first word with a blank.
_LONGEST = 1 + max(map(len, _OPERATIONS))


def transaction(line: bytes) -> Transaction | None:
    """Return the transaction of a line; None for any other line.

    It is one statement, those between BEGIN and COMMIT, or a SELECT and an UPDATE of the same key.
    """
    *statements, end = line.split(b";")
    words = [statement[:_LONGEST].partition(b" ")[0] for statement in statements]
    batch = len(words) > 2 and (words[0], words[-1]) == (b"BEGIN", b"COMMIT")
    inner = words[1:-1] if batch else words
    if (
        end != b"\n"
        or (len(inner) != 1 and not batch and inner != _READ_MODIFY_WRITE)
        or not _OPERATIONS.keys() >= set(inner)
    ):
        return None
    values = [_values(text, word) for text, word in zip(statements, words, strict=True)]
    if any(size is None or len(text) - size > _TEXT for text, size in zip(statements, values, strict=True)):
        return None
    return Transaction(tuple(_OPERATIONS[word] for word in inner), batch, sum(size or 0 for size in values))


def _values(statement: bytes, word: bytes) -> int | None:
    """Return the bytes of a statement's values: of texts without quotes, and of numbers except the row's key.
    None for an INSERT or UPDATE that no workload makes."""
    if match := _INSERT.fullmatch(statement):
        literals = (match[2] or b"").split(b",")[1 if match[1] else 0 :]
    elif match := _UPDATE.fullmatch(statement):
        literals = [assigned.partition(b"=")[2].strip() for assigned in match[1].split(b",")]
    else:
        return None if word in (b"INSERT", b"UPDATE") else 0
    return sum(len(text.strip(b"'")) for text in literals if text[:1] == b"'" or text.isdigit())
