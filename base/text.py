"""Format messages and tables: escape invisible characters, wrap, list allowed values, suggest near ones."""

import difflib
import math
import re
import textwrap
from collections.abc import Container, Iterable, Sequence


def printable(text: object) -> str:
    """Return the text in one line, with invisible characters escaped.

    These are control characters, marks that change text direction, and lone surrogates.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


# Longest message, and how much of its start is kept of a longer one.
_MOST, _BEGIN = 2000, 1000


def one_line(text: object) -> str:
    """Return an error message for the terminal; a very long one keeps its start and its end, which has the
    allowed values."""
    line = printable(text)
    return line if len(line) <= _MOST else f"{line[:_BEGIN]} … {line[_BEGIN - _MOST :]}"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural unless the number is 1."""
    plural = "es" if noun.endswith(("sh", "ss")) else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def percent(fraction: float, digits: int = 2) -> str:
    """Return a share in percent, rounded down, so that 100 is all."""
    return f"{math.floor(fraction * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def decimals(value: float, digits: int) -> int:
    """Return how many decimals show so many digits of a number, which is not 0: 4 for three of 0.0123."""
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return max(0, digits - 1 - exponent)


def printable_lines(lines: Iterable[object]) -> str:
    """Join lines, each made printable."""
    return "\n".join(map(printable, lines))


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Return rows as lines of aligned columns; `right`: the numbers of columns aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{'>' if i in right else '<'}{width}}}" for i, width in enumerate(widths))
    return [line.format(*row).rstrip() for row in rows]


COLUMNS = 80  # of a terminal
# Stands for a blank at which no line ends.
UNBROKEN = "\xa0"


def filled(paragraph: str, more: str = "  ", width: int = COLUMNS, first: str = "") -> list[str]:
    """Return a text in lines; the first begins with `first`, others with `more`. UNBROKEN becomes a blank."""
    lines = textwrap.wrap(
        paragraph,
        width,
        initial_indent=first,
        subsequent_indent=more,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(UNBROKEN, " ") for line in lines or [first.rstrip()] if line]


def filled_lines(paragraphs: Iterable[str]) -> str:
    """Join texts, each in lines of a terminal and made printable."""
    return "\n".join(line for paragraph in paragraphs for line in filled(printable(paragraph)))


def rows_by_place(
    head: Sequence[str], last: str, rows: Sequence[tuple[str, Sequence[str], str]]
) -> list[str]:
    """Return rows (place, numbers, words) in lines of a terminal: each place, and under it its rows.

    head, last: the names of the numbers and of the words.
    """
    every = [("", head, last), *rows]
    widths = [max(map(len, column)) for column in zip(*(numbers for _, numbers, _ in every), strict=True)]
    places: dict[str, list[str]] = {}
    for place, numbers, words in every:
        text = "  ".join(number.rjust(width) for number, width in zip(numbers, widths, strict=True))
        places.setdefault(place, filled(place)).extend(
            filled(words, " " * (len(text) + 4), first=f"{text}  ")
        )
    return [line for lines in places.values() for line in lines]


# Most names that an error lists, or most columns of more.
_LISTED, _SHORT = 8, 64


def choices(names: Iterable[str], command: str) -> str:
    """Return the names, or the number of many and the command that lists them."""
    listed = list(names)
    if len(listed) <= _LISTED or len(", ".join(listed)) <= _SHORT:
        return ", ".join(listed)
    return f"one of {len(listed)} (`{command}` lists them)"


def in_any_case(text: str, names: Iterable[str]) -> str:
    """Return a text in which each word that is a name in other case is written as the name; a path stays."""
    if "/" in text or text.endswith(".yml"):
        return text
    exact = {name: name for name in names}
    by_case = {name.casefold(): name for name in exact} | exact
    return re.sub(r"\S+", lambda word: by_case.get(word[0], by_case.get(word[0].casefold(), word[0])), text)


def did_you_mean(text: str, choices: Iterable[str]) -> str:
    """Return `did you mean …? ` with the nearest choice, or nothing if none is near or TEXT is a number."""
    if text.lstrip("+-").isdecimal():
        return ""
    names = {choice.casefold(): choice for choice in choices}
    near = difflib.get_close_matches(text.casefold(), names, 1)
    return f"did you mean {names[near[0]]}? " if near else ""
