"""The SQL that the driver renders: what a line of it does, and how many bytes of values it carries."""

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
# Statements with values in them; a column `id` is the row's key. A text is of letters, digits and blanks.
_VALUE = rb"(?:'[\w ]*'|[0-9]+)"
_SET = rb"\w+ ?= ?(?:" + _VALUE + rb"|\w+\*[0-9]+)"
_INSERT = re.compile(
    rb"INSERT INTO \w+(?:\((id,)?[\w,]+\))? (?:VALUES\((%b(?:,%b)*)\)|SELECT [\w ,]+)" % (_VALUE, _VALUE)
)
_UPDATE = re.compile(rb"UPDATE \w+ SET (%b(?:,%b)*) WHERE [\w <>=]+" % (_SET, _SET))
_READ_MODIFY_WRITE = [b"SELECT", b"UPDATE"]
# The most bytes that a statement has beside its values: 250 at most in those of the workloads here.
_TEXT = 400
# Bytes of a statement that its first word and a blank are in.
_LONGEST = 1 + max(map(len, _OPERATIONS))


def transaction(line: bytes) -> Transaction | None:
    """Return what a line does: a statement, those between BEGIN and COMMIT, or a SELECT and an UPDATE of the
    same key, one after the other. None, if it is none of these."""
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
    values = [_values(one, word) for one, word in zip(statements, words, strict=True)]
    if any(size is None or len(one) - size > _TEXT for one, size in zip(statements, values, strict=True)):
        return None
    return Transaction(tuple(_OPERATIONS[word] for word in inner), batch, sum(size or 0 for size in values))


def _values(statement: bytes, word: bytes) -> int | None:
    """Return how many bytes of values a statement carries: those of its texts without their quotes, and of
    its numbers, but for the row's key. None of an INSERT or UPDATE that no workload makes."""
    if found := _INSERT.fullmatch(statement):
        literals = (found[2] or b"").split(b",")[1 if found[1] else 0 :]
    elif found := _UPDATE.fullmatch(statement):
        literals = [assigned.partition(b"=")[2].strip() for assigned in found[1].split(b",")]
    else:
        return None if word in (b"INSERT", b"UPDATE") else 0
    return sum(len(one.strip(b"'")) for one in literals if one[:1] == b"'" or one.isdigit())
