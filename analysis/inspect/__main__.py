"""python -m analysis.inspect RUN_DIR [TRIAL]: write RUN_DIR/inspect.html from the run's tables, or
inspect-trial-<TRIAL>.html, with the cut of that trial.

--trace PREFIX_OR_TEXT [--format FORMAT] [--csv FILE]: of a block trace that no run made, <name>.inspect.html
next to it; FILE has its commands.

Exit status: 0 done, 2 wrong usage, no such trial or no trace, 3 a table cannot be read; then no page is
written.
"""

import sys
from pathlib import Path

from analysis.inspect import cut, external_trace, page, traced
from analysis.inspect.load import Loaded
from analysis.inspect.trace_gaps import counted
from base import scratch
from base.errors import EXIT_BAD_INPUT, EXIT_UNREADABLE, BadInputError, FileError
from base.text import printable


def page_of_trace(trace: str) -> Path:
    """Return the path of a block trace's page."""
    return external_trace.place(trace)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    options = dict(zip(given[::2], given[1::2], strict=False)) if given[:1] == ["--trace"] else {}
    is_trace = bool(options)
    is_valid = set(options) <= {"--trace", "--format", "--csv"} and len(given) == 2 * len(options)
    if not (is_valid if is_trace else len(given) in (1, 2)):
        usage = "RUN_DIR [TRIAL] | --trace PREFIX_OR_TEXT [--format FORMAT] [--csv FILE]"
        print(f"usage: python -m analysis.inspect {usage}", file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        if is_trace:
            trace = external_trace.read(options["--trace"], options.get("--format", ""))
            for line in (*external_trace.facts(trace), *trace.gaps):
                print(f"inspect: {printable(line)}")
            place, text = external_trace.place(options["--trace"]), page.render_trace(trace)
            if table := options.get("--csv"):
                with scratch.whole(Path(table)) as part:
                    traced.csv(trace.traced, part)
                print(f"inspect: {table} ({counted(trace.shown.height, 'row')})")
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
    except FileError as error:
        # a trace is what the user gave, a run what was stored here
        print(f"commitpath: {'TRACE=' if is_trace else ''}{error}", file=sys.stderr)
        return EXIT_BAD_INPUT if is_trace else EXIT_UNREADABLE
    with scratch.whole(place) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
    print(f"inspect: {place} ({place.stat().st_size / 2**20:.1f} MiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
