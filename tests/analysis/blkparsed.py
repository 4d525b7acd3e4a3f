"""The event lines of blkparse's output: what Debian 12's (1.2.0) and Debian 13's (1.3.0) print alike.

1.3.0 prints a trace's notes, in its own format, each with a blank line behind it, and counts time
from the first of them; 1.2.0 prints none, and counts from the first event.
"""

import re

NOTE = re.compile(r" *\d+,\d+ +\d+ +\d+ +\d+\.\d+ +\d+ \S+ +m +N ")


def events(printed: str) -> list[str]:
    """The lines of events: no note, no blank line, no name of an input file, no begin."""
    return [
        line
        for line in printed.splitlines()
        if line.strip() and not line.startswith(("Input file", "Trace started at")) and not NOTE.match(line)
    ]
