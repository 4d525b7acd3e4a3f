"""Steps on the terminal: what is done now, and how long it took."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

# how many steps are open, for the indent
_open: list[str] = []


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is being done; on a terminal count its seconds, at the end print them."""
    begin = time.monotonic()
    live = sys.stderr.isatty()
    indent = "  " * len(_open)
    done = threading.Event()

    def tick() -> None:
        while not done.wait(1):
            print(
                f"\r{indent}{what} … {time.monotonic() - begin:.0f} s ", end="", file=sys.stderr, flush=True
            )

    if live:
        threading.Thread(target=tick, daemon=True).start()
    else:
        print(f"{indent}{what} …", file=sys.stderr, flush=True)
    _open.append(what)
    verdict = "failed"
    try:
        yield
        verdict = "done"
    finally:
        _open.pop()
        done.set()
        start = "\r" if live else ""
        print(
            f"{start}{indent}{what}: {verdict}, {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True
        )
