"""Reserve a host CPU for each virtual board."""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator

# An abstract socket name, which the kernel releases with the process.
CLAIM = "\0commitpath/cpu"


@contextlib.contextmanager
def own_cpu() -> Iterator[set[int]]:
    """Yield a host CPU that no other board on this machine uses, or all CPUs if each has its board.

    Under -icount QEMU's two busy threads, the virtual CPU and the loop that advances idle time, alternate
    thousands of times a second. On one CPU that is a plain context switch; across two, each waits for the
    other CPU to be free.
    """
    cpus = os.sched_getaffinity(0)
    for cpu in sorted(cpus, reverse=True):
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"{CLAIM}{cpu}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            yield {cpu}
            return
    yield cpus
