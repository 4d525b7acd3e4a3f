"""`make trace-record`: run a command here and write its SQL as a trace (docs/how-to/trace.md)."""

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from base import scratch
from base.errors import BadInputError, LabError
from base.paths import ROOT
from base.text import printable
from commitpath.cells.axes import axes
from commitpath.host import places
from commitpath.host.packages import ensure_packages
from commitpath.inputs.trace_comparison import differences, header
from model.statements import pragmas, recording, tracefile
from model.statements.sqlfile import SqlFileError
from model.statements.tracefile import Trace

COMMAND = ROOT / "workloads/command"
# Names the folder of a preload's records (workloads/command/transactions.h).
VARIABLE = "COMMITPATH_RECORD"


def trace_record(variables: dict[str, str]) -> int:
    """Run CMD under each engine's preload and write the trace to FILE; return the command's exit code."""
    command = variables.get("CMD", "")
    if not command.strip() or not variables.get("FILE"):
        raise BadInputError("make trace-record takes CMD='<a command of sh, run here>' and FILE=<a new file>")
    target = places.new_file("FILE", variables["FILE"])
    ensure_packages(virtual=False)
    with scratch.temporary("record") as folder:
        libraries = [build(engine, folder) for engine in sorted(engines())]
        records = folder / "records"
        records.mkdir()
        preload = ":".join([*filter(None, [os.environ.get("LD_PRELOAD")]), *map(str, libraries)])
        environment = {**os.environ, VARIABLE: str(records), "LD_PRELOAD": preload}
        status = subprocess.run(["sh", "-c", command], env=environment, check=False).returncode
        try:
            trace, paths, left = recording.trace(records)
        except SqlFileError as error:
            raise LabError(f"CMD: {error}") from None
        if not trace.entries:
            raise LabError(
                f"CMD ended with {status}, and changed no database by the shared library of "
                f"{' or '.join(sorted(engines()))}"
            )
        # first of all, as the command is not run again
        text = tracefile.write(trace)
        with scratch.whole(target) as part:
            part.write_text(text)
        notes = [*databases(trace, paths), *map(left_out, sorted(left.items()))]
        notes += [f"beware: {line}" for line in differences(trace, paths, folder)]
    counts = [sum(entry.file == number for entry in trace.entries) for number in trace.files]
    for (number, file), count in zip(trace.files.items(), counts, strict=True):
        print(f"{number} {file}: {count} statement{'' if count == 1 else 's'}")
    for note in notes:
        print(printable(note))
    print(f"{target}: {len(text.encode())} bytes; the command ended with {status}")
    return status if status >= 0 else 128 - status


def databases(trace: Trace, paths: dict[int, str]) -> Iterator[str]:
    """Yield the settings of the command's databases that are not a cell's defaults."""
    for number, file in trace.files.items():
        settings = header(Path(paths[number]))
        words = [
            f"{axes()[axis].variable}={value}"
            for axis, value in settings.items()
            if axis in axes() and str(axes()[axis].spec["default"]) != value
        ]
        if words:
            yield f"{number} {file} is as of a cell with {' '.join(words)}"
        if encoding := settings.get("encoding"):
            yield f"{number} {file} has its texts in {encoding}; a cell's database has them in UTF-8"


def left_out(counted: tuple[str, int]) -> str:
    """Return a line about left-out statements: their number, and the variable to use instead."""
    words, count = counted
    line = f"left out {'once' if count == 1 else f'{count} times'}: {words}"
    if axis := pragmas.axis(words):
        return f"{line}: the variable {axes()[axis].variable} sets it"
    return f"{line}: no variable sets it, a cell has SQLite's default" if pragmas.is_default(words) else line


def engines() -> list[str]:
    """Return the engines with a preload."""
    return [path.parent.name for path in (ROOT / "workloads/engines").glob("*/preload")]


def build(engine: str, folder: Path) -> Path:
    """Build an engine's preload for this host."""
    library = folder / f"{engine}.so"
    make = ["make", "-s", "-C", str(COMMAND), "preload", f"ENGINE={engine}", f"OUT={library}"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(make, capture_output=True, text=True, check=False, env=clean)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no word"])[0]
        raise LabError(f"{shlex.join(make)} failed: {last}")
    return library
