"""Read raw/bpftrace.txt, a user's bpftrace script's output: lines with a time (to be drawn), lost events."""

import re
from pathlib import Path

import polars as pl

from analysis.observers import Given, Observer, Seen
from analysis.run_files.reading import read_text

# `nsecs(monotonic)`, a blank, and a text
_TIMED = re.compile(r"^[ \t]*([0-9]{1,18})[ \t]+(\S.*)$", re.MULTILINE)
# a number of any kind: of ms, a process, a time of day
_NUMBERED = re.compile(r"^[ \t]*[-+]?[0-9][0-9.,:]*(?:[^\w.]|$)", re.MULTILINE)
_LOST = re.compile(r"^(?:WARNING: )?Lost ([0-9]{1,18}) events", re.MULTILINE | re.IGNORECASE)
# its file and place before it; one for each update that failed
_FULL = re.compile(r"^[^\n]*\bWARNING: Map full;", re.MULTILINE)
TEXT, OUTPUTS = "bpftrace.txt", ("bpftrace.out", "bpftrace.err")


def script_lines(raw: Path) -> pl.DataFrame:
    """Return the lines with a time, by time: begin_ns, text. Raises FileError."""
    path = raw / TEXT
    matches = _TIMED.findall(read_text(path, whole_lines=False)) if path.is_file() else []
    rows = {"begin_ns": [int(time) for time, _ in matches], "text": [text for _, text in matches]}
    return pl.DataFrame(rows, {"begin_ns": pl.Int64, "text": pl.String}).sort("begin_ns", maintain_order=True)


def _seen(given: Given) -> Seen:
    seen, names = Seen(), (TEXT, *OUTPUTS)
    texts = {
        name: read_text(given.raw / name, whole_lines=False) for name in names if (given.raw / name).is_file()
    }
    seen.missing = [f"raw/{name}" for name in names if name not in texts]
    lost = sum(int(number) for text in texts.values() for number in _LOST.findall(text))
    full = sum(len(_FULL.findall(texts.get(name, ""))) for name in OUTPUTS)
    seen.lost = lost + full
    timed = script_lines(given.raw).filter(pl.col("begin_ns").is_between(*given.window)).height
    first = next(iter(texts.values()), None)
    others = len(_NUMBERED.findall(first)) - timed if first is not None else 0
    seen.numbers = {
        "lines": (first or "").count("\n"),
        "timed_lines": timed,
        "other_numbers": others,
        "lost": seen.lost,
    }
    if others:
        seen.notes.append(
            f"{others} lines of the bpftrace script begin with a number that is not a time of the run "
            f"and are not drawn (raw/{TEXT}); lines that begin with nsecs(monotonic) and a blank are"
        )
    if lost:
        seen.losses.append(f"the bpftrace script lost {lost} events")
    if full:
        seen.losses.append(f"the bpftrace script lost {full} updates of a full map (max_map_keys)")
    return seen


OBSERVER = Observer(read=_seen, leaves=("bpftrace.*",), script_lines=script_lines)
