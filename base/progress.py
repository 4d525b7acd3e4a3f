"""What goes on, at the bottom of the terminal; and whole lines, as they come, where there is none."""

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

# After which a step says again that it is being done, where nothing counts its seconds.
EVERY_SECONDS = 60.0


class Bottom:
    """The lines at the bottom of the terminal: what is shown now, outermost first."""

    def __init__(self) -> None:
        # each says its line as it is at this moment
        self.lines: list[Callable[[], str]] = []
        self.live: Live | None = None
        # how many steps are open, for the indent
        self.depth = 0

    def begin(self) -> None:
        """Begin to draw. What others print meanwhile stands above it."""
        # a tenth of a second that a call without a terminal is spared
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self.live = Live(
            # a path that others print is not broken into lines; what is drawn over is, below
            console=Console(file=sys.stderr, force_terminal=True, color_system=None, soft_wrap=True),
            get_renderable=lambda: Text("\n".join(fitted(line()) for line in self.lines)),
            refresh_per_second=1,
            transient=True,
            # what is piped elsewhere goes there
            redirect_stdout=sys.stdout.isatty(),
        )
        self.live.start(refresh=True)
        # a kill would leave the terminal without one
        self.live.console.show_cursor(True)

    def end(self) -> None:
        """Erase what was drawn."""
        live, self.live = self.live, None
        if live:
            live.stop()


_bottom = Bottom()


def on_terminal() -> bool:
    """Whether lines can be drawn over."""
    return _bottom.live is not None or (
        sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    )


@contextlib.contextmanager
def shown(line: Callable[[], str]) -> Iterator[None]:
    """Show a line below those that are shown already, and draw it again each second."""
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
    """A text in lines that the terminal has room for."""
    return textwrap.fill(text, os.get_terminal_size(sys.stderr.fileno()).columns or 80)


def say(text: str) -> None:
    """A line that stays; one that is too long for the terminal goes on in the next."""
    print(fitted(text) if on_terminal() else text, file=sys.stderr, flush=True)


def counted(what: str) -> contextlib.AbstractContextManager[None]:
    """Count the seconds of what is being done on a terminal; elsewhere nothing is said."""
    if not on_terminal():
        return contextlib.nullcontext()
    begin = time.monotonic()
    indent = "  " * _bottom.depth
    return shown(lambda: f"{indent}{what} … {time.monotonic() - begin:.0f} s")


@contextlib.contextmanager
def reminded(what: str) -> Iterator[None]:
    """Say every EVERY_SECONDS that a step is still being done, but while a step within it says so."""
    begin, depth, ended = time.monotonic(), _bottom.depth, threading.Event()
    indent = "  " * (depth - 1)

    def remind() -> None:
        # interrupts are for the thread that is doing it
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
    """Say what is being done; on a terminal count its seconds, elsewhere each minute, at the end print them.

    alone: no other program talks to the terminal meanwhile.
    """
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
