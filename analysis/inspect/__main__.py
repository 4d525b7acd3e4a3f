"""python -m analysis.inspect RUN_DIR: write RUN_DIR/inspect.html from the run's tables.

Exit status: 0 done, 2 wrong usage, 3 a table cannot be read; then no page is written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.inspect import page
from analysis.inspect.load import Loaded
from base import scratch
from base.errors import BadInput


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m analysis.inspect RUN_DIR", file=sys.stderr)
        return 2
    folder = Path(given[0])
    try:
        text = page.render(Loaded(folder, any_load=True))
    except BadInput as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    place = folder / "inspect.html"
    with scratch.whole(place) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
    print(f"inspect: {place} ({place.stat().st_size / 2**20:.1f} MiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
