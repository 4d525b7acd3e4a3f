"""python -m analysis.export RUN_DIR FORMAT: export a run to another tool's format."""

import sys
from pathlib import Path

from analysis import export
from analysis.run_files import stored
from base.errors import FileError
from base.text import printable


def main(arguments: list[str]) -> int:
    """Export a run; exit status 0, 2 wrong usage, 3 an input file cannot be read."""
    names = [*export.FORMATS, "all"]
    if len(arguments) != 2 or arguments[1] not in names:
        print(f"usage: python -m analysis.export RUN_DIR {'|'.join(names)}", file=sys.stderr)
        return 2
    folder, form = Path(arguments[0]), arguments[1]
    try:
        made = export.export(folder, list(export.FORMATS) if form == "all" else [form])
        for reason in stored.read(folder).rejected:
            print(printable(f"commitpath: {folder} is a rejected run: {reason}"), file=sys.stderr)
    except FileError as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    for path in made:
        print(f"{path}: {export.FORMATS[path.name][1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
