"""Let a command go on when the reader of its output has gone (`| head`): discard the rest of the output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast


def discard(stream: TextIO) -> None:
    """Discard what Python still buffers of a stream: to write it would fail when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Unread:
    """A stream that discards what its reader does not take."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            discard(self._stream)
            return len(text)

    def flush(self) -> None:
        """Write the buffer."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            discard(self._stream)


@contextmanager
def unread_allowed() -> Iterator[None]:
    """Let a command go on after the readers of its output have gone, as `head` does."""
    output, errors = (cast(TextIO, _Unread(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            yield
        finally:
            output.flush()
