"""Does what a board says of itself agree with itself?"""

from __future__ import annotations

import re

from analysis.recorded import is_virtual
from analysis.run import Run

# `uname -a` of Debian's kernels: the release, and with the build the version of the package. A release may
# have the package's ABI in the place of the third number: 6.1.0-40 of 6.1.153-1.
_KERNEL = re.compile(
    r"\S+ \S+ ([0-9]+\.[0-9]+)\.([0-9]+)\S* .* Debian ([0-9]+\.[0-9]+)\.([0-9]+)[-+~ ]", re.S
)


# What a virtual board's list of packages has of its kernel, the only one: a package called after its release,
# or of a user's tree that release (images/kernels/).
_PACKAGES, _TREE, _UNSIGNED = ("linux-image-", "linux-binary-"), "linux-tree", "-unsigned"


def one_kernel(run: Run) -> list[str]:
    """The kernel's release, the version that it was built as and, on a virtual board, its package are of one
    kernel. The twin's is its."""
    text = run.board.texts.get("kernel", "")
    told, words, found = _KERNEL.match(text), text.split(), []
    if told and not (told[1] == told[3] and told[2] in ("0", told[4])):
        found.append(
            f"kernel.txt: release {told[1]}.{told[2]} of a kernel that was built as {told[3]}.{told[4]}"
        )
    known = {name: of for name, of in run.board.versions.items() if name.startswith((*_PACKAGES, _TREE))}
    if is_virtual(run) and known and len(words) > 2:
        named = (name.removesuffix(_UNSIGNED).endswith(f"-{words[2]}") for name in known)
        if known.get(_TREE) != words[2] and not any(named):
            found.append(
                f"kernel.txt: release {words[2]}; in versions.txt there is {', '.join(sorted(known))}"
            )
    return found
