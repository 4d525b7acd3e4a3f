"""Parse many text lines of a block tracer at once, with Polars and regular expressions.

A pattern covers the lines that a tracer usually prints. A line that does not match it, or has a value out
of range, is left to blklines, which reads it or names its fault. Both give the same event for a line that
both read.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import blkformat, blklines
from analysis.adapters.blkevents import EVENT, SECTORS, UNKNOWN
from analysis.adapters.blkrecords import COMPLETE, REQUEUE

# The first pattern of each text takes its usual forms. Each character has one meaning in it, so that the
# regex engine needs one pass. The last pattern takes any form.
# `8,0    3        1     0.000000000   697  D  WS 223490 + 8 [kjournald]`, of a flush `697  D  FN [kjournald]`
_PARSED = (
    r"^ *(?P<device>[0-9]{1,4},[0-9]{1,7}) +[0-9]{1,5} +[0-9]{1,18} +(?P<s>[0-9]{1,9})\.(?P<ns>[0-9]{9})"
    r" +(?P<pid>[0-9]{1,10}) +(?P<action>[A-WYZ]) +(?P<rwbs>[A-Z]{1,8})"
    r" +(?:(?P<sector>[0-9]{1,20}) (?:\+ (?P<n>[0-9]{1,16}) )?)?\[(?P<last>[^\]]*)\]$",
    r"^\s*(?P<device>[0-9]{1,4},[0-9]{1,7})\s+[0-9]{1,5}\s+[0-9]{1,18}"
    r"\s+(?P<s>[0-9]{1,9})\.(?P<ns>[0-9]{9})\s+(?P<pid>[0-9]{1,10})\s+(?:[0-9a-f]+,[0-9a-f]+\s+)?"
    r"(?:(?P<action>[A-WYZ])\s+(?P<rwbs>[A-Z]{1,8})(?:\s+(?P<sector>[0-9]{1,20})(?:\s+\+\s+(?P<n>[0-9]{1,16}))?)?"
    r"(?:\s+<-\s+\((?P<source>[0-9]{1,4},[0-9]{1,7})\)\s+(?P<other>[0-9]{1,20}))?(?:\s+\[(?P<last>.*)\])?"
    r"|(?P<event>[A-Za-z]{1,2})\s.*)\s*$",
)
# `mydb-912 [001] d..1 101.000100: block_rq_issue: 179,0 WS 4096 () 2048 + 8 none,0,0 [mydb]` is split at
# its `: `. One pattern for the whole line takes three times as long.
_TIME = r"(?P<s>[0-9]{1,9})\.(?P<ns>[0-9]{6,9})$"
_TARGET = r"^(?P<device>[0-9]{1,4},[0-9]{1,7}) (?P<rwbs>[A-MO-Z][A-Z]{0,7})"
_EXTENT = r" (?P<sector>[0-9]{1,20}) \+ (?P<n>[0-9]{1,16})"
# Process and time.
_HEADS = (
    r"[^ ]-(?P<pid>[0-9]{1,10}) +\[[0-9]+\] +(?:[^\s:0-9][^\s:]* +)?" + _TIME,
    r"^\s*.{1,64}?(?:-|\s+)(?P<pid>[0-9]{1,10})(?:/[0-9]+)?(?:\s+\(\s*[-0-9]+\))?\s+\[[0-9]+\]\s+(?:[^\s:]+\s+)?"
    + _TIME,
)
_USUAL = 79  # bytes: 64 of a task's name, and `-1 [0] 1.000000`
# Command: of a bio or a request, of any. A request may have its size before `()`, a bio its sector there.
_COMMANDS = (
    _TARGET + r" (?:(?P<before>[0-9]{1,20}) )?(?:\([^()]*\) (?P<sector>[0-9]{1,20}) )?\+ (?P<n>[0-9]{1,16}) "
    r"(?:[a-z0-9,]+ )?\[(?P<last>[^\]]*)\]$",
    _TARGET
    + r"(?: [0-9]+)?(?: \([^()]*\))?"
    + _EXTENT
    + r"(?: <- \((?P<source>[0-9]{1,4},[0-9]{1,7})\) (?P<other>[0-9]{1,20})(?: [0-9]+)?)?"
    r"(?: [^\[]*?)?(?: \[(?P<last>.*)\])?$",
)
# After the time: perf's count and group, then the event's name.
_EVENT = re.compile(r"\s*(?:[0-9]+\s+)?(?:\w+:)?(\w+)")
_NO_DATA = 1 << 32  # above the bits of an action
_OPTIONAL = ("n", "bytes", "last", "error", "source", "other", "event")


class Read(NamedTuple):
    """The events of some lines, which are numbered from 0."""

    table: pl.DataFrame  # as rows() takes them
    lines: np.ndarray  # the line of each row
    unread: np.ndarray  # the lines that are left to blklines


def read(lines: pl.Series, form: blklines.Reader) -> Read:
    """Return the events of lines without their newlines."""
    action_of: Callable[[str], int | None] = blklines.ACTIONS.get
    if isinstance(form, blkformat.Format):
        text, action_of = lines.str.extract_groups(form.pattern).struct.unnest(), blkformat.ACTIONS.get
    elif form is blklines.traced:
        text, action_of = _traced(lines), _traced_action
    else:
        text = _first_match(lines, _PARSED)
    if "device" not in text.columns:
        text = text.with_columns(device=pl.concat_str("major", pl.lit(","), "minor"))
    if "error" not in text.columns and not isinstance(form, blkformat.Format):
        text = text.with_columns(error="last")
    text = text.with_columns(
        pl.lit(None, pl.String).alias(name) for name in _OPTIONAL if name not in text.columns
    )
    table = text.select(
        pl.col("s", "pid", "ns").cast(pl.UInt64),
        pl.col("n", "sector", "other", "bytes").fill_null("0").cast(pl.UInt64, strict=False),
        "last",
        action=_coded(text["action"], action_of),
        device=_coded(text["device"], _device),
        source=_coded(text["source"], _device),
        has_source=pl.col("source").is_not_null(),
        bits=_coded(text["rwbs"], _bits),
        has_sector=pl.col("sector").is_not_null(),
        has_size=pl.col("n").is_not_null(),
        has_bytes=pl.col("bytes").is_not_null(),
        error=_coded(text["error"].fill_null(""), blklines.error),
    ).with_columns(
        sector=pl.when(pl.col("sector") == blklines.NOWHERE).then(0).otherwise("sector"),
        n=pl.when("has_bytes").then(pl.col("bytes") // 512).otherwise("n"),
        answers=pl.col("action").is_in([COMPLETE, REQUEUE]),
    )
    ok = pl.all_horizontal(pl.col("action", "device", "bits", "sector", "n", "other").is_not_null())
    ok &= (pl.col("n") == 0) | (pl.col("bits") < _NO_DATA)
    ok &= pl.col("has_source") == pl.col("source").is_not_null()
    ok &= pl.col("error").is_not_null() | (pl.col("action") != COMPLETE)
    ok &= pl.col("bytes") % 512 == 0
    ok &= (
        (pl.col("pid") < 1 << 32)
        & (pl.col("other") < SECTORS)
        & (pl.col("sector") < SECTORS)
        & (pl.col("n") < SECTORS)
        & (pl.col("sector") + pl.col("n") < SECTORS)
    )
    if form is blklines.parsed:  # a line with a sector and no size, or the reverse, may be SCSI passthrough
        ok &= pl.col("has_size") | (pl.col("has_sector") == pl.col("answers"))
    is_event = table.select(ok.fill_null(value=False)).to_series()
    others = (~is_event).arg_true()
    words = text[others].select(pl.coalesce("event", "action")).to_series()
    is_skipped = _coded(words, lambda word: None if action_of(word) else 1).is_not_null()
    return Read(table.filter(is_event), is_event.arg_true().to_numpy(), others.filter(~is_skipped).to_numpy())


def _traced(lines: pl.Series) -> pl.DataFrame:
    """Return the fields of each line of ftrace, trace-cmd or `perf script`, null where it has none."""
    parts = lines.str.splitn(": ", 3).struct.unnest()
    head = _first_match(parts["field_0"], _HEADS, longest=_USUAL)
    command = _first_match(parts["field_2"].str.strip_chars_end(), _COMMANDS)
    command = command.with_columns(sector=pl.coalesce("sector", "before"))
    action = pl.when(head["s"].is_not_null()).then(parts["field_1"]).alias("action")
    return pl.concat([head, command], how="horizontal").with_columns(action, pl.col("ns").str.pad_end(9, "0"))


def _traced_action(words: str) -> int | None:
    """Return the action of a tracer's event, None if the event is about something else. Raises LineError."""
    event = _EVENT.fullmatch(words)
    if event is None or event[1] == blklines.BLK:
        raise blklines.LineError(f"{words!r} is not the name of an event")
    return blklines.TRACED_ACTIONS.get(event[1])


def _first_match(text: pl.Series, patterns: tuple[str, ...], longest: int = 1 << 16) -> pl.DataFrame:
    """Return the groups of each line's first pattern that matches it, null where none does.

    A text longer than `longest` bytes is matched with the last pattern alone.
    """
    left = pl.DataFrame({"text": text}).with_row_index("row")
    tables = list[pl.DataFrame]()
    for pattern in patterns:
        tried = left["text"]
        if pattern != patterns[-1]:
            tried = left.select(pl.when(pl.col("text").str.len_bytes() <= longest).then("text")).to_series()
        groups = tried.str.extract_groups(pattern).struct.unnest()
        matched = groups.to_series(0).is_not_null()
        if not tables and matched.all():
            return groups
        tables.append(groups.insert_column(0, left["row"]).filter(matched))
        left = left.filter(~matched)
    return pl.concat([*tables, left.select("row")], how="diagonal").sort("row").drop("row")


def rows(table: pl.DataFrame, number: blklines.Number) -> np.ndarray:
    """Return the events of Read.table as EVENT; `number` gives a process its number."""
    words = table.select(
        process=pl.when(~pl.col("answers")).then("last"),
        error=pl.when(pl.col("action") == COMPLETE).then("error").otherwise(0),
    )
    columns = {
        "time": table["s"] * 10**9 + table["ns"],
        "sector": table["sector"],
        "bytes": table["n"] * 512,
        "other": table["other"],
        "action": table["action"] | (table["bits"] & (_NO_DATA - 1)),
        "pid": table["pid"],
        "device": table["device"],
        "source": table["source"].fill_null(0),
        "name": _coded(words["process"], lambda word: number(blklines.process(word))).fill_null(UNKNOWN),
        "error": words["error"],
    }
    result = np.zeros(table.height, EVENT)
    for name, values in columns.items():
        result[name] = values.to_numpy()
    return result


def _coded(words: pl.Series, code: Callable[[str], int | None]) -> pl.Series:
    """Return the code of each word, null where that is a LineError; `code` is called once for each word."""

    def coded(word: str) -> int | None:
        try:
            return code(word)
        except blklines.LineError:
            return None

    distinct = words.drop_nulls().unique(maintain_order=True)
    if distinct.is_empty():
        return pl.Series(words.name, [None], pl.Int64).new_from_index(0, len(words))
    codes = pl.Series([coded(word) for word in distinct], dtype=pl.Int64)
    return words.replace_strict(distinct, codes, default=None, return_dtype=pl.Int64)


def _bits(rwbs: str) -> int:
    """Return the bits of an operation, with _NO_DATA if it has no data. Raises LineError."""
    bits = blklines.flags(rwbs, has_data=False)
    try:
        return blklines.flags(rwbs, has_data=True)
    except blklines.LineError:
        return bits | _NO_DATA


def _device(text: str) -> int:
    return blklines.device(*text.split(","))
