"""Text that others wrote, as a terminal may get it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def printable(text: object) -> str:
    """Return the text in one line, with an escape for each character that would do more than be seen.

    These are control characters (a terminal's escapes begin with one), what changes the direction
    of what follows, other invisible ones, and halves of a character.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


# Characters of a line that says what is wrong, and of its begin where it has more.
_MOST, _BEGIN = 2000, 1000


def one_line(text: object) -> str:
    """Return what is wrong, for the terminal; of a very long line the begin, and the end, which says what is
    allowed."""
    line = printable(text)
    return line if len(line) <= _MOST else f"{line[:_BEGIN]} … {line[_BEGIN - _MOST :]}"


def printable_lines(lines: Iterable[object]) -> str:
    """Return lines as one text."""
    return "\n".join(map(printable, lines))


def did_you_mean(text: str, choices: Iterable[str]) -> str:
    """`did you mean …? ` of the choice that TEXT is nearest to, nothing where it is near to none.

    A number is no slip of another one.
    """
    if text.lstrip("+-").isdecimal():
        return ""
    # the similarity from which difflib counts words as near by itself
    known = {choice.casefold(): choice for choice in choices}
    near = difflib.get_close_matches(text.casefold(), known, 1)
    return f"did you mean {known[near[0]]}? " if near else ""
