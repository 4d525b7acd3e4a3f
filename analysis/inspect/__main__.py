"""python -m analysis.inspect RUN_DIR: write RUN_DIR/inspect.html from the run's tables.

--trace PREFIX_OR_TEXT: of a block trace that no run made, <name>.inspect.html beside it.

Exit status: 0 done, 2 wrong usage or no trace, 3 a table cannot be read; then no page is written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.inspect import blktrace, page
from analysis.inspect.load import Loaded
from base import scratch
from base.errors import EXIT_BAD_INPUT, EXIT_UNREADABLE, BadInput


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    is_trace = given[:1] == ["--trace"]
    if len(given) != 1 + is_trace:
        print("usage: python -m analysis.inspect RUN_DIR | --trace PREFIX_OR_TEXT", file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        if is_trace:
            place, text = blktrace.place(given[1]), page.render_trace(blktrace.read(given[1]))
        else:
            place = Path(given[0]) / "inspect.html"
            text = page.render(Loaded(Path(given[0]), any_load=True))
    except BadInput as error:
        # a trace is what the user gave, a run what was stored here
        print(f"commitpath: {'TRACE=' if is_trace else ''}{error}", file=sys.stderr)
        return EXIT_BAD_INPUT if is_trace else EXIT_UNREADABLE
    with scratch.whole(place) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
    print(f"inspect: {place} ({place.stat().st_size / 2**20:.1f} MiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
