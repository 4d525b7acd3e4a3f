"""Does what a board says of itself agree with itself?"""

from __future__ import annotations

import re

from analysis.run import Run

# `uname -a` of Debian's kernels: the release, and with the build the version of the package. A release may
# have the package's ABI in the place of the third number: 6.1.0-40 of 6.1.153-1.
_KERNEL = re.compile(
    r"\S+ \S+ ([0-9]+\.[0-9]+)\.([0-9]+)\S* .* Debian ([0-9]+\.[0-9]+)\.([0-9]+)[-+~ ]", re.S
)


def one_kernel(run: Run) -> list[str]:
    """The kernel's release and the version that it was built as are of one kernel. The twin's is its."""
    told = _KERNEL.match(run.board.texts.get("kernel", ""))
    if not told or (told[1] == told[3] and told[2] in ("0", told[4])):
        return []
    return [f"kernel.txt: release {told[1]}.{told[2]} of a kernel that was built as {told[3]}.{told[4]}"]
