"""Ctrl-C, a terminate and a closed terminal have one answer: what was begun is stopped, in one line."""

import os
import signal
import sys
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])
TOLD = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
# Seconds after which an interrupt that Python dropped, or that had to wait, is raised again.
AGAIN_SECONDS = 0.05
# Seconds in which two are one: make and timeout hand on what the whole group was told.
ONE_SECONDS = 1.0
EXIT_INTERRUPTED = 130


# The functions that no interrupt comes into.
_uninterrupted: set[CodeType] = set()


def uninterrupted(function: Function) -> Function:
    """Let no interrupt into a function, nor into what it calls: it comes when the function has returned.

    For what makes a thing and notes it for the clean-up, and for the clean-up itself. Of a generator that
    is a context manager, both of its halves are meant, and not the block between them.
    """
    _uninterrupted.add(function.__code__)
    return function


class _Handler:
    """Raise KeyboardInterrupt, once for those that are one: another would end the cleaning up."""

    def __init__(self) -> None:
        self._last = -ONE_SECONDS
        self._process = os.getpid()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        # a child that has not become its program yet: it is its parent that answers
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
    """Return whether a frame is that of a function that no interrupt comes into, or is called by one."""
    while frame and frame.f_code not in _uninterrupted:
        frame = frame.f_back
    return frame is not None


def _again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that came in a destructor or a weak reference's callback: Python drops it."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    else:
        sys.__unraisablehook__(unraisable)


def hold() -> None:
    """Let all three wait until everything is loaded: an interrupt inside Python's import machinery is
    printed and dropped."""
    signal.pthread_sigmask(signal.SIG_BLOCK, TOLD)
    handler = _Handler()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, handler)
    # a terminate is answered as Ctrl-C is, what was started is stopped: also in a shell's
    # background job, where SIGINT is ignored
    signal.signal(signal.SIGTERM, handler)
    # so is a terminal that is closed: a build has a session of its own and does not hear of that
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
        signal.signal(signal.SIGHUP, handler)
    signal.signal(signal.SIGALRM, handler)
    sys.unraisablehook = _again
    _keep_whole()


def _keep_whole() -> None:
    """Let no interrupt into what of Python's own would leave a process running, or a folder behind."""
    import subprocess
    import tempfile

    process, folder, file = subprocess.Popen, tempfile.TemporaryDirectory, tempfile._TemporaryFileWrapper
    uninterrupted(tempfile.NamedTemporaryFile)
    for method in (process.__init__, process.__enter__, folder.__init__, folder.cleanup, file.__exit__):
        uninterrupted(method)


def answered(name: str, run: Callable[[], int]) -> int:
    """Run a command with all three held; its exit code, or that of an interrupted one, which is told."""
    try:
        return run()
    except (KeyboardInterrupt, ImportError) as error:
        # so an extension that was interrupted while it was loaded has it
        if isinstance(error, ImportError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _ignore_further()
        print(f"{name}: interrupted; nothing is left running", file=sys.stderr)
        return EXIT_INTERRUPTED
    finally:
        # what comes now is the interpreter's end
        ignore()


def _ignore_further() -> None:
    """Ignore what comes while the answer is told, and one that is on its way: Polars raises an interrupt
    that it saw, and Python the same one once more."""
    while True:
        try:
            return ignore()
        except KeyboardInterrupt:
            pass


def let() -> None:
    """Answer from now on, and what came since they were held."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TOLD)


def ignore() -> None:
    """Leave it to the process above, or to nobody."""
    for number in TOLD | {signal.SIGALRM}:
        signal.signal(number, signal.SIG_IGN)
