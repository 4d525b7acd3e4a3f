"""Read the files of {{NAME}}, raw/{{NAME}}/: the counters of all disks before and after a run."""

from __future__ import annotations

from analysis.observers import Given, Observer, Seen
from analysis.run_files.reading import read_text

_FILES = ("begin", "end")


def _read(given: Given) -> Seen:
    """Return its record of a run (required), with missing files and losses.

    `losses` reject the run, `notes` do not; `said` are numbers for the manifest; `events` are rows of
    analysis/schemas/events.py. Raises FileError at a file that cannot be read.
    """
    folder = given.raw / "{{NAME}}"
    seen = Seen(missing=[f"raw/{{NAME}}/{name}" for name in _FILES if not (folder / name).is_file()])
    if not seen.missing:
        before, after = (read_text(folder / name).count("\n") for name in _FILES)
        seen.numbers = {"disks": after}
        if before != after:
            seen.losses.append(f"{{NAME}} saw {before} disks at the beginning and {after} at the end")
    return seen


# leaves: patterns of its files below raw/
OBSERVER = Observer(read=_read, leaves=("{{NAME}}/*",))
