"""blkparse's -f: what a line is that was printed with such a format."""

from __future__ import annotations

import re

from analysis.adapters import blklines
from analysis.adapters.blkrecords import COMPLETE, REMAP, SPLIT

# the same name may stand for several letters, of which one is enough
_LETTERS = {
    "a": ("action", r"[A-Za-z]{1,2}"),
    "c": ("cpu", r"[0-9]+"),
    "C": ("last", r".*?"),
    "d": ("rwbs", r"[A-Z]{1,8}"),
    "D": ("device", r"[0-9]{1,4},[0-9]{1,7}"),
    "e": ("error", r"-?[0-9]{1,9}"),
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
_PIECE = re.compile(r"%(?P<wide>-?[0-9]*)(?P<letter>[A-Za-z%])|\\(?P<escape>[nt\\])|(?P<text>.)", re.DOTALL)
_ESCAPES = {"n": "", "t": r"\s+", "\\": r"\\"}


class FormatError(ValueError):
    """A format cannot be read back; says why."""


def reader(text: str) -> blklines.Reader:
    """Return what reads the lines that were printed with `blkparse -f TEXT`. Raises FormatError."""
    parts, seen = [r"\s*"], set[str]()
    for piece in _PIECE.finditer(text):
        letter = piece["letter"]
        if letter == "%":
            parts.append("%")
        elif letter:
            if letter not in _LETTERS:
                letters = ", ".join(f"%{one}" for one in _LETTERS)
                raise FormatError(f"%{letter} is not one of blkparse's letters: {letters}")
            name, pattern = _LETTERS[letter]
            parts.append(rf"\s*(?P={name})\s*" if letter in seen else rf"\s*(?P<{name}>{pattern})\s*")
            seen.add(letter)
        elif piece["escape"]:
            parts.append(_ESCAPES[piece["escape"]])
        else:
            parts.append(r"\s+" if piece["text"].isspace() else re.escape(piece["text"]))
    for needed in _NEEDED:
        if not any(one[1] in seen for one in needed):
            raise FormatError(f"{' or '.join(needed)} is missing: commands cannot be read without it")
    # blanks of a field and of the text between are one
    joined = "".join([*parts, r"\s*"])
    joined = re.sub(r"(?:\\s[*+])+", lambda blanks: r"\s+" if "+" in blanks[0] else r"\s*", joined)
    whole = re.compile(joined)

    def read(line: str, number: blklines.Number) -> blklines.Row | None:
        event = whole.fullmatch(line)
        if event is None:
            raise blklines.LineError(f"{line.strip()[:40]!r} is not an event in the given format")
        fields = event.groupdict()
        action = blklines.ACTIONS.get(fields["action"])
        if action is None:
            return None
        if "device" in fields:
            fields["major"], fields["minor"] = fields["device"].split(",")
        if action == COMPLETE:
            fields["last"] = fields.get("error", "")
        if action in (REMAP, SPLIT):
            return None  # it does not say where to
        time = int(fields["s"]) * 10**9 + int(fields["ns"])
        return blklines.row(fields, action, time, number, passed=False)

    return read
