"""Show a command's steps and their seconds: redrawn at the terminal's bottom, or plain lines each minute."""

import contextlib
import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live

# Without a terminal, a step is reported again after this many seconds.
EVERY_SECONDS = 60.0


class Bottom:
    """The lines at the bottom of the terminal, outermost step first."""

    def __init__(self) -> None:
        # called at each redraw
        self.lines: list[Callable[[], str]] = []
        self.live: Live | None = None
        # open steps, for the indent
        self.depth = 0

    def begin(self) -> None:
        """Begin to draw; other output appears above."""
        # imported here: it takes a tenth of a second, needed only on a terminal
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self.live = Live(
            # do not wrap paths in other output; the lines at the bottom are wrapped in fitted()
            console=Console(file=sys.stderr, force_terminal=True, color_system=None, soft_wrap=True),
            get_renderable=lambda: Text("\n".join(fitted(line()) for line in self.lines)),
            refresh_per_second=1,
            transient=True,
            # leave redirected output alone
            redirect_stdout=sys.stdout.isatty(),
        )
        self.live.start(refresh=True)
        # so that a killed process does not leave the terminal without a cursor
        self.live.console.show_cursor(True)

    def end(self) -> None:
        """Stop drawing, and erase the lines."""
        live, self.live = self.live, None
        if live:
            live.stop()


_bottom = Bottom()


def on_terminal() -> bool:
    """Return whether output is a terminal on which lines can be redrawn."""
    return _bottom.live is not None or (
        sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    )


@contextlib.contextmanager
def shown(line: Callable[[], str]) -> Iterator[None]:
    """Show a line below the current ones, redrawn each second."""
    _bottom.lines.append(line)
    try:
        if _bottom.live is None:
            _bottom.begin()
        yield
    finally:
        _bottom.lines.pop()
        if not _bottom.lines:
            _bottom.end()


def fitted(text: str) -> str:
    """Return a text wrapped to the terminal's width."""
    return textwrap.fill(text, os.get_terminal_size(sys.stderr.fileno()).columns or 80)


def say(text: str) -> None:
    """Print a permanent line, wrapped to the terminal."""
    # at once, as two threads may print
    print(f"{fitted(text) if on_terminal() else text}\n", end="", file=sys.stderr, flush=True)


def counted(what: str) -> contextlib.AbstractContextManager[None]:
    """Show a step with its seconds on a terminal; print nothing otherwise."""
    if not on_terminal():
        return contextlib.nullcontext()
    begin = time.monotonic()
    indent = "  " * _bottom.depth
    return shown(lambda: f"{indent}{what} … {time.monotonic() - begin:.0f} s")


@contextlib.contextmanager
def reminded(what: str) -> Iterator[None]:
    """Print every EVERY_SECONDS that a step is still running, unless a step inside it does."""
    begin, depth, ended = time.monotonic(), _bottom.depth, threading.Event()
    indent = "  " * (depth - 1)

    def remind() -> None:
        # interrupts go to the working thread
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while not ended.wait(EVERY_SECONDS):
            if _bottom.depth == depth:
                say(f"{indent}{what}: still running, {time.monotonic() - begin:.0f} s")

    thread = threading.Thread(target=remind, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def step(what: str, alone: bool = True) -> Iterator[None]:
    """Report a step: count its seconds on a terminal, else print once a minute; print its time at the end.

    alone: no other program writes to the terminal meanwhile.
    """
    # Polars, once loaded, has system calls restarted: Ctrl-C would wait for the end of a build
    signal.siginterrupt(signal.SIGINT, True)
    begin = time.monotonic()
    indent = "  " * _bottom.depth
    context: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if on_terminal() and alone:
        context = counted(what)
    else:
        say(f"{indent}{what} …")
        if not on_terminal():
            context = reminded(what)
    _bottom.depth += 1
    verdict = "failed"
    try:
        with context:
            yield
        verdict = "done"
    except KeyboardInterrupt:
        verdict = "interrupted"
        raise
    finally:
        _bottom.depth -= 1
        say(f"{indent}{what}: {verdict}, {time.monotonic() - begin:.1f} s")
