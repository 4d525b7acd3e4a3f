"""Replace a statement's parameters by their typed values, as SQL literals."""

import math
import re

# A parameter's value. A text that is not UTF-8 is Raw.
Value = int | float | str | bytes | None


class Raw(bytes):
    """The bytes of a text that is not UTF-8."""


class Zeros(int):
    """A zeroblob; the number is its length in bytes."""


# SQLite's tokens (tokenize.c), as far as they are parameters or may contain a newline.
_PART = re.compile(
    r"(?P<blank>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<text>'(?:[^']|'')*')"
    r"|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|(?P<number>\?[0-9]*)|(?P<name>[:@$][\w$](?:[\w$]|::)*(?:\([^\s)]*\))?)|[\w$]+|.",
    re.DOTALL,
)
# Any release of SQLite reads a real of at most so many digits exactly.
_EXACT_DIGITS, _EXACT_TENS = 15, 22


def literal(value: Value) -> str:
    """Return an SQL expression with this value and type."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytes):
        return f"CAST(X'{value.hex()}' AS TEXT)" if isinstance(value, Raw) else f"X'{value.hex()}'"
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, Zeros):
        return f"zeroblob({int(value)})"
    return str(value) if value >= 0 else f"({value})"


def _text(value: str) -> str:
    """Return a text literal in one line: a NUL or newline is a char()."""
    parts = [
        f"char({ord(part)})" if part in ("\0", "\n") else "'" + part.replace("'", "''") + "'"
        for part in re.split("([\0\n])", value)
        if part
    ]
    return parts[0] if len(parts) == 1 else f"({'||'.join(parts)})" if parts else "''"


def _real(value: float) -> str:
    """Return digits, if any release reads them exactly; else the product of an integer and powers of two."""
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return f"({sign}9e999)"
    text = repr(abs(value))
    digits, _, exponent = text.partition("e")
    count = len(digits.replace(".", "").strip("0"))
    if count <= _EXACT_DIGITS and abs(int(exponent or 0)) + len(digits) <= _EXACT_TENS:
        return f"({sign}{text})" if sign else text
    numerator, denominator = abs(value).as_integer_ratio()
    twos = (numerator & -numerator).bit_length() - 1
    factors = [f"{numerator >> twos}*1.0"]
    for sign_of, power in (("*", twos), ("/", denominator.bit_length() - 1)):
        factors += [f"{sign_of}{1 << min(62, power - done)}" for done in range(0, power, 62)]
    return f"({sign}{''.join(factors)})"


def bound(sql: str, values: tuple[Value, ...]) -> str:
    """Return a statement in one line, with each parameter replaced by its value.

    Raises ValueError for another number of parameters.
    """
    names, largest, made = dict[str, int](), 0, list[str]()
    for part in _PART.finditer(sql):
        if part["number"] is not None:
            at = int(part["number"][1:] or largest + 1)
        elif part["name"] is not None:
            at = names.setdefault(part["name"], largest + 1)
        else:
            made.append(_in_line(part))
            continue
        largest = max(largest, at)
        if not 1 <= at <= len(values):
            raise ValueError(f"{len(values)} values, and a parameter {part[0]!r} that is number {at}")
        made.append(literal(values[at - 1]))
    if largest != len(values):
        raise ValueError(f"{len(values)} values for {largest} parameters")
    return "".join(made)


def _in_line(part: re.Match[str]) -> str:
    """Return a token in one line, so that later statements keep their lines of the trace."""
    if "\n" not in part[0] and not part[0].startswith("--"):
        return part[0]
    if part["text"] is not None:
        return _text(part[0][1:-1].replace("''", "'"))
    return " " if part["blank"] is not None else part[0]
