"""Turn a format string of `blkparse -f` into a parser of the lines that it printed."""

import re
import string

from analysis.adapters import blklines
from analysis.adapters.blkrecords import COMPLETE, REMAP, SPLIT

_LETTERS = {
    "a": ("action", r"[A-Za-z]{1,2}"),
    "c": ("cpu", r"[0-9]+"),
    "C": ("last", r".*?"),
    "d": ("rwbs", r"[A-Z]{1,8}"),
    "D": ("device", r"[0-9]{1,4},[0-9]{1,7}"),
    "e": ("error", r"-?[0-9]{1,9}"),
    "g": ("group", r"[0-9a-f]+,[0-9a-f]+"),
    "M": ("major", r"[0-9]{1,4}"),
    "m": ("minor", r"[0-9]{1,7}"),
    "n": ("n", r"[0-9]{1,20}"),
    "N": ("bytes", r"[0-9]{1,20}"),
    "p": ("pid", r"[0-9]{1,10}"),
    "P": ("payload", r".*?"),
    "s": ("number", r"[0-9]+"),
    "S": ("sector", r"[0-9]{1,20}"),
    "t": ("ns", r"[0-9]{1,9}"),
    "T": ("s", r"[0-9]{1,9}"),
    "u": ("elapsed", r"[0-9.]+"),
    "U": ("depth", r"[0-9]+"),
    "z": ("absolute", r"\S+"),
}
_NEEDED = (("%a",), ("%d",), ("%S",), ("%n", "%N"), ("%T",), ("%t",), ("%D", "%M"), ("%D", "%m"), ("%p",))
_PIECE = re.compile(r"%(?P<wide>-?[0-9]*)(?P<letter>[A-Za-z%])|\\(?P<escape>[nrt\\])|(?P<text>.)", re.DOTALL)
_ESCAPES = {"n": "", "r": "", "t": "\t", "\\": "\\"}
# characters of a letter's value; digits for the others
_CHARACTERS = {
    **{"a": string.ascii_letters, "d": string.ascii_uppercase, "u": string.digits + "."},
    **{"g": string.hexdigits + ",", "z": string.digits + ":."},
    **{"C": "", "P": ""},  # a name is matched as short as possible
}
# the format has no target of splits and remaps
ACTIONS = {word: action for word, action in blklines.ACTIONS.items() if action not in (REMAP, SPLIT)}


class FormatError(ValueError):
    """A format cannot be read back; the message gives the reason."""


class Format:
    """Reads the lines that were printed with a format."""

    def __init__(self, text: str) -> None:
        """Take the text that `blkparse -f` was given. Raises FormatError."""
        self.pattern = f"^{_pattern(text)}$"
        self._whole = re.compile(self.pattern)

    def __call__(self, line: str, number: blklines.Number) -> blklines.Row | None:
        """Return the event of a line. Raises LineError."""
        event = self._whole.fullmatch(line)
        if event is None:
            note = blklines.PARSED.fullmatch(line)
            # blkparse 1.3 prints a note in its own format whatever it was given
            if note is not None and note["action"] == "m":
                return None
            raise blklines.LineError(f"{line.strip()[:40]!r} is not an event in the given format")
        fields = event.groupdict()
        action = ACTIONS.get(fields["action"])
        if action is None:
            return None
        if "device" in fields:
            fields["major"], fields["minor"] = fields["device"].split(",")
        if action == COMPLETE:
            fields["last"] = fields.get("error", "")
        # a command of the block layer has whole sectors
        passthrough = int(fields.get("bytes", 0)) % 512 > 0
        time = int(fields["s"]) * 10**9 + int(fields["ns"])
        return blklines.row(fields, action, time, number, passthrough=passthrough)


def _pattern(text: str) -> str:
    """Return the regular expression of a line. Raises FormatError."""
    parts, seen, last, between = [r"\s*"], set[str](), "", ""
    # a line's end, written as it is or as \n, and blanks before it that an editor may have removed
    for piece in _PIECE.finditer(re.sub(r"(?:\s|\\[nrt])+$", "", text)):
        letter = piece["letter"]
        if letter and letter != "%":
            if letter not in _LETTERS:
                letters = ", ".join(f"%{name}" for name in _LETTERS)
                raise FormatError(f"%{letter} is not one of blkparse's letters: {letters}")
            if last:
                _check_apart(last, between, letter)
            name, pattern = _LETTERS[letter]
            # a second occurrence has the same value
            parts.append(rf"\s*(?:{pattern})\s*" if letter in seen else rf"\s*(?P<{name}>{pattern})\s*")
            seen.add(letter)
            last, between = letter, ""
        else:
            fixed = letter or piece["text"] or _ESCAPES[piece["escape"]]
            parts.append(r"\s+" if fixed.isspace() else re.escape(fixed))
            between += fixed
    for needed in _NEEDED:
        if not any(name[1] in seen for name in needed):
            raise FormatError(f"{' or '.join(needed)} is missing: commands cannot be read without it")
    # blanks of a field and of the text between are one
    joined = "".join([*parts, r"\s*"])
    return re.sub(r"(?:\\s[*+])+", lambda blanks: r"\s+" if "+" in blanks[0] else r"\s*", joined)


def _check_apart(letter: str, between: str, other: str) -> None:
    """Refuse two fields if the first may continue in the text between them. Raises FormatError."""
    characters = _CHARACTERS.get(letter, string.digits)
    if not between or (characters and set(between) <= set(characters)):
        ends = f"only {between!r} is between them" if between else "nothing is between them"
        raise FormatError(f"%{letter} and %{other} cannot be told apart: {ends}; put a blank there")
