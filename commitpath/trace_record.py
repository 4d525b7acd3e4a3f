"""`make trace-record`: a command runs here, and what it does to its databases is a trace (docs/trace.md)."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from analysis.adapters import recording, tracefile
from analysis.adapters.sqlfile import SqlFileError
from base import scratch
from base.errors import BadInputError, LabError
from base.paths import ROOT
from commitpath import places
from commitpath.host import ensure_packages

COMMAND = ROOT / "workloads/command"
# The folder that a preload records to (workloads/command/transactions.h).
VARIABLE = "COMMITPATH_RECORD"


def trace_record(variables: dict[str, str]) -> int:
    """Run CMD under each engine's preload and write the trace to FILE. The exit code is the command's."""
    command = variables.get("CMD", "")
    if not command.strip() or not variables.get("FILE"):
        raise BadInputError("make trace-record takes CMD='<a command of sh, run here>' and FILE=<a new file>")
    target = places.new_file("FILE", variables["FILE"])
    ensure_packages(virtual=False)
    with tempfile.TemporaryDirectory(prefix="commitpath-record-") as name:
        folder = Path(name)
        libraries = [build(engine, folder) for engine in sorted(engines())]
        records = folder / "records"
        records.mkdir()
        preload = ":".join([*filter(None, [os.environ.get("LD_PRELOAD")]), *map(str, libraries)])
        environment = {**os.environ, VARIABLE: str(records), "LD_PRELOAD": preload}
        status = subprocess.run(["sh", "-c", command], env=environment, check=False).returncode
        try:
            trace, left = recording.trace(records)
        except SqlFileError as error:
            raise LabError(f"CMD: {error}") from None
    if not trace.entries:
        raise LabError(
            f"CMD ended with {status}, and changed no database by the shared library of "
            f"{' or '.join(sorted(engines()))}"
        )
    text = tracefile.write(trace)
    with scratch.whole(target) as part:
        part.write_text(text)
    counts = [sum(entry.file == number for entry in trace.entries) for number in trace.files]
    for (number, file), count in zip(trace.files.items(), counts, strict=True):
        print(f"{number} {file}: {count} statements")
    for words, count in sorted(left.items()):
        print(f"left out {count} times: {words}")
    print(f"{target}: {len(text.encode())} bytes; the command ended with {status}")
    return status if status >= 0 else 128 - status


def engines() -> list[str]:
    """Those whose calls can be recorded."""
    return [path.parent.name for path in (ROOT / "workloads/engines").glob("*/preload")]


def build(engine: str, folder: Path) -> Path:
    """What records an engine's calls, for this host."""
    library = folder / f"{engine}.so"
    make = ["make", "-s", "-C", str(COMMAND), "preload", f"ENGINE={engine}", f"OUT={library}"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(make, capture_output=True, text=True, check=False, env=clean)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no word"])[0]
        raise LabError(f"{shlex.join(make)} failed: {last}")
    return library
