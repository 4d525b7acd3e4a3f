"""Turn Ctrl-C, SIGTERM, a closed terminal into one KeyboardInterrupt, deferred in clean-up; exit with 130."""

import os
import signal
import sys
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])
SIGNALS = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
# Delay before an interrupt is raised again that Python dropped or that had to wait.
AGAIN_SECONDS = 0.05
# Signals within this time count as one: make and timeout forward what the process group received.
ONE_SECONDS = 1.0
EXIT_INTERRUPTED = 130


# Code in which no interrupt is raised.
_uninterrupted: set[CodeType] = set()


def uninterrupted(function: Function) -> Function:
    """Defer interrupts during a function and all it calls, until it has returned.

    For code that creates something and registers it for clean-up, and for the clean-up itself. For a
    generator used as a context manager, this covers both halves, but not the block between them.
    """
    _uninterrupted.add(function.__code__)
    return function


class _Handler:
    """Raise KeyboardInterrupt once for a burst of signals: a second one would end the clean-up."""

    def __init__(self) -> None:
        self._last = -ONE_SECONDS
        self._process = os.getpid()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        # a forked child before its exec; the parent handles the signal
        if os.getpid() != self._process:
            return
        now = time.monotonic()
        if number != signal.SIGALRM and now - self._last < ONE_SECONDS:
            return
        self._last = now
        if _is_uninterrupted(frame):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        else:
            raise KeyboardInterrupt


def _is_uninterrupted(frame: FrameType | None) -> bool:
    """Return whether a frame, or one of its callers, defers interrupts."""
    while frame and frame.f_code not in _uninterrupted:
        frame = frame.f_back
    return frame is not None


@uninterrupted
def _again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that Python dropped in a destructor or a weak reference's callback."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    else:
        sys.__unraisablehook__(unraisable)


def block() -> None:
    """Install the handlers, and block the signals until every module is loaded: Python prints and drops an
    interrupt during an import."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    handler = _Handler()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, handler)
    # SIGTERM too, which also reaches a shell's background job, where SIGINT is ignored; and SIGHUP, since
    # a build runs in a session of its own and does not receive it
    signal.signal(signal.SIGTERM, handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
        signal.signal(signal.SIGHUP, handler)
    signal.signal(signal.SIGALRM, handler)
    sys.unraisablehook = _again
    _keep_whole()


def _keep_whole() -> None:
    """Defer interrupts in library code that would leave a process running or a folder behind."""
    import subprocess
    import tempfile

    process, folder, file = subprocess.Popen, tempfile.TemporaryDirectory, tempfile._TemporaryFileWrapper
    uninterrupted(tempfile.NamedTemporaryFile)
    for method in (process.__init__, process.__enter__, folder.__init__, folder.cleanup, file.__exit__):
        uninterrupted(method)


def run_command(name: str, run: Callable[[], int]) -> int:
    """Run a command; return its exit code, or print that it was interrupted and return EXIT_INTERRUPTED."""
    try:
        return run()
    except (KeyboardInterrupt, ImportError) as error:
        # an import of an extension that was interrupted raises this
        if isinstance(error, ImportError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _ignore_further()
        print(f"{name}: interrupted; nothing is left running", file=sys.stderr)
        return EXIT_INTERRUPTED
    finally:
        # from here on the interpreter ends
        ignore()


def _ignore_further() -> None:
    """Ignore signals while the message is printed, and one already pending: Polars raises an interrupt, and
    Python then raises the same one again."""
    while True:
        try:
            return ignore()
        except KeyboardInterrupt:
            pass


def unblock() -> None:
    """Handle signals from now on, including those that arrived while blocked."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def ignore() -> None:
    """Ignore the signals: the parent process handles them, or nobody does."""
    for number in SIGNALS | {signal.SIGALRM}:
        signal.signal(number, signal.SIG_IGN)
