"""python -m analysis.inspect RUN_DIR [TRIAL]: write RUN_DIR/inspect.html from the run's tables, or
inspect-trial-<TRIAL>.html, with the cut of that trial.

--trace PREFIX_OR_TEXT: of a block trace that no run made, <name>.inspect.html beside it.

Exit status: 0 done, 2 wrong usage, no such trial or no trace, 3 a table cannot be read; then no page is
written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.inspect import blktrace, cut, page
from analysis.inspect.load import Loaded
from base import scratch
from base.errors import EXIT_BAD_INPUT, EXIT_UNREADABLE, BadInput, BadInputError
from base.text import printable


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    is_trace = given[:1] == ["--trace"]
    if len(given) not in ((2,) if is_trace else (1, 2)):
        print("usage: python -m analysis.inspect RUN_DIR [TRIAL] | --trace PREFIX_OR_TEXT", file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        if is_trace:
            place, text = blktrace.place(given[1]), page.render_trace(blktrace.read(given[1]))
        elif len(given) > 1:
            run = Loaded(Path(given[0]))
            text = page.render(run, cut.of(run, given[1]))
            place = cut.place(Path(given[0]), given[1])
        else:
            place = Path(given[0]) / "inspect.html"
            text = page.render(Loaded(Path(given[0]), any_load=True))
    except BadInputError as error:
        print(f"commitpath: {printable(error)}", file=sys.stderr)
        return error.exit_code
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
