"""Commands, called without bin/commitpath, in a process whose libraries are loaded already.

Of the 0.5 to 1.1 s of CPU that such a call takes, most is make's and the loading of libraries, and
the tests make hundreds of calls. One process for each that runs tests loads them once and forks a
child for each call. The child is a process as any, with its own environment, signals and exit code, and
imports commitpath's own modules anew, but for the analysis, which asks nothing of the environment.
What a test says of make itself, or kills, it starts with make.

As a program (python commands.py) it is that process: a call, as JSON, a line; it answers with the
child's process number, then with its exit code and the CPU seconds that it took.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# None of them has begun to compute, so a fork takes no thread's lock with it.
LIBRARIES = (
    *("fastjsonschema", "jinja2", "jsonschema", "matplotlib.figure", "matplotlib.backends.backend_svg"),
    *("numpy", "polars", "rich.console", "rich.live", "scipy.special", "sqlite3", "xxhash", "yaml"),
    # ours; import-linter holds that it imports nothing of commitpath
    *("analysis.pipeline", "analysis.crash.verdicts", "base.schema"),
)
# Those of analysis/schema.yml that most calls check; to compile the three takes 0.1 s.
DOCUMENTS = ("summary", "manifest", "host")
# CPU seconds of the calls that ended: they are no children of the process that makes them.
used_s: list[float] = []
# Of these the two that look at the environment.
OF_ENVIRONMENT = ("base.paths", "analysis")


def draw_nothing(_: object, folder: Path) -> dict[str, Path]:
    """Stand in for analysis.figures.render_all, which takes nine tenths of an analysis."""
    folder.mkdir()
    return {}


def document_nothing(_: Path) -> None:
    """Stand in for analysis.report.manual.write, which takes 0.7 s."""


def serve() -> None:
    """Answer each call; the end of the calls is the end of the process."""
    sys.path[0] = str(ROOT)
    for library in LIBRARIES:
        importlib.import_module(library)
    sys.modules["base.schema"].schema()
    for name in DOCUMENTS:
        sys.modules["analysis.schemas.documents"]._document(name)
    gc.freeze()
    for line in sys.stdin:
        call = json.loads(line)
        child = os.fork()
        if not child:
            # the end of an interpreter with all that is loaded takes four times as long as the call
            os._exit(become(call))
        print(child, flush=True)
        _, status, used = os.wait4(child, 0)
        print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, flush=True)


def become(call: dict[str, Any]) -> int:
    """Run a command in this process, a child, as `python -m commitpath` does; its exit code."""
    for number, file in enumerate((os.devnull, call["output"], call["error"])):
        opened = os.open(file, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(call["environment"])
    for name in OF_ENVIRONMENT:
        importlib.reload(sys.modules[name])
    if not call["figures"]:
        sys.modules["analysis.figures"].render_all = draw_nothing  # type: ignore[attr-defined]
        sys.modules["analysis.report.manual"].write = document_nothing  # type: ignore[attr-defined]
    os.chdir(ROOT)
    # as the interpreter has them when it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["commitpath", call["target"], *call["words"]]
    try:
        runpy.run_module("commitpath", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return 1


@functools.cache
def server() -> tuple["subprocess.Popen[str]", threading.Lock]:
    """The process that forks; it ends with this one, whose end closes its input."""
    # libraries that compute start threads when they are loaded, unless told
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        # Ctrl-C is for the tests
        start_new_session=True,
    )
    atexit.register(process.stdin.close)  # type: ignore[union-attr]
    return process, threading.Lock()


def call(
    target: str, *words: str, figures: bool = True, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """What `bin/commitpath TARGET NAME=VALUE…` would do. figures: whether its own analyses draw any."""
    clean = {k: v for k, v in os.environ.items() if not re.match("MAKE|MFLAGS", k)}
    process, lock = server()
    with lock, tempfile.NamedTemporaryFile("r") as output, tempfile.NamedTemporaryFile("r") as error:
        files = {"output": output.name, "error": error.name}
        variables = {**clean, **environment}
        asked = {"target": target, "words": words, "environment": variables, "figures": figures, **files}
        assert process.stdin and process.stdout
        print(json.dumps(asked), file=process.stdin, flush=True)
        child = int(process.stdout.readline())
        try:
            code, taken = process.stdout.readline().split()
        except BaseException:
            os.kill(child, signal.SIGTERM)
            process.stdout.readline()
            raise
        used_s.append(float(taken))
        return subprocess.CompletedProcess([target, *words], int(code), output.read(), error.read())


if __name__ == "__main__":
    serve()
