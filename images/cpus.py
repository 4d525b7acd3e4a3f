"""Which of the host's CPUs a board works on."""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator

# A name of the kernel's abstract socket namespace, which goes with the process that holds it.
CLAIM = "\0commitpath/cpu"


@contextlib.contextmanager
def own_cpu() -> Iterator[set[int]]:
    """A host CPU that no other board on this machine has; all of them when each has its board.

    Under -icount QEMU's two busy threads, the virtual CPU and the loop that lets idle time
    pass, take turns thousands of times a second. On one CPU that is a plain switch; across
    two, each turn waits for the other CPU to be free.
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
