"""Does what a board says of itself agree with itself?"""

from __future__ import annotations

import re

from analysis.adapters.board import Board
from analysis.run import Run
from base.data import load_yaml
from base.paths import EXPERIMENTS

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
    if run.is_virtual and known and len(words) > 2:
        named = (name.removesuffix(_UNSIGNED).endswith(f"-{words[2]}") for name in known)
        if known.get(_TREE) != words[2] and not any(named):
            found.append(
                f"kernel.txt: release {words[2]}; in versions.txt there is {', '.join(sorted(known))}"
            )
    return found


# Digits of a content in the name of a user's kernel (docs/formats.md).
_DIGITS = 12


def named(run: Run) -> list[str]:
    """A user's kernel is called after its content; a tree's has no package, and nobody else's is a tree's."""
    profile = run.cell["profiles"].get("kernel", {})
    kind, colon, digits = str(run.cell.get("kernel", "")).partition(":")
    found = []
    if colon and digits != str(profile.get(kind, ""))[:_DIGITS]:
        found.append(f"the cell's kernel is {kind}:{digits}, its content {profile.get(kind)}")
    in_list = _TREE in run.board.versions
    if run.is_virtual and in_list != (f"linux-{kind}" == _TREE):
        found.append(f"versions.txt has {'a' if in_list else 'no'} {_TREE}, the cell's kernel is {kind}")
    return found


def leaves_its_signs(run: Run) -> list[str]:
    """What a kernel that is known here leaves in each watched run is there: how the probes are attached to
    it, and of which version its tracer's records are (experiments/kernel/)."""
    name = str(run.cell["kernel"])
    path = EXPERIMENTS / "kernel" / f"{name}.yml"
    if not run.is_virtual or not re.fullmatch(r"[\w.]+", name) or not path.is_file():
        return []
    profile, probes = load_yaml(path), run.board.run.get("probes")
    attached = probes.get("by") if isinstance(probes, dict) else None
    found = [
        f"the probes were attached by {attached}; to KERNEL={name} it is by {due}"
        for due in [profile.get("attached_by")]
        if attached and due and attached != due
    ]
    return found + [
        f"{who} has records of version {witness.version}; of KERNEL={name} they are of {due}"
        for who, witness in run.witnesses.items()
        for due in [profile.get("tracer_records")]
        if due and witness.version != due
    ]


def has_its_observers(run: Run) -> list[str]:
    """Who watched on a virtual board has its programs there."""
    if not run.is_virtual or not run.board.versions:
        return []
    return [
        f"{name} watched, and its package {package} is not in versions.txt"
        for name in run.seen
        for package in load_yaml(EXPERIMENTS / "observer" / f"{name}.yml")["packages"]
        if package not in run.board.versions
    ]


# How images/modules/bio_vectors/ hooks the kernel's function, and how often it must have been asked since it
# was loaded: it fills three bios of two pages to see that it works, two of them with pages of two folios.
_HOOKED_BY, _ASKED, _KEPT_APART = ("ftrace", "kprobe"), 3, 2
_VECTORS = "bio_vectors"


def has_its_modules(run: Run) -> list[str]:
    """The modules that the plan has for a virtual board are loaded, in the run and in its twin, and
    bio_vectors is at work: else the block commands of a large sync are those of that board's memory."""
    planned = run.plan["board"].get("modules", []) if run.plan else []
    boards = {"": run.board, **({"the untraced twin: ": run.twin.board} if run.twin else {})}
    found = [
        f"{who}raw/board/modules/{name}.txt is missing: the plan has that module"
        for who, board in boards.items()
        for name in planned
        if name not in board.modules
    ]
    for who, board in boards.items():
        if (said := board.modules.get(_VECTORS)) is not None and (why := _not_at_work(said)):
            found.append(f"{who}raw/board/modules/{_VECTORS}.txt: {why}")
    if run.twin and not found and _hook(run.twin.board) != _hook(run.board):
        found.append(f"the untraced twin: {_VECTORS} hooks the kernel in another way than in the run")
    return found


def _hook(board: Board) -> list[str | None]:
    said = board.modules.get(_VECTORS, {})
    return [said.get(name) for name in ("function", "by")]


def _not_at_work(said: dict[str, str]) -> str | None:
    """Say why bio_vectors was not at work, by what it says of itself; None: it was."""
    if said.get("by") not in _HOOKED_BY or not said.get("function"):
        return f"the kernel's function {said.get('function')} is hooked by {said.get('by')}"
    counts = [said.get(name, "") for name in ("calls", "kept_apart")]
    if not all(re.fullmatch("[0-9]{1,18}", count) for count in counts):
        return f"{counts[0]!r} calls and {counts[1]!r} pages kept apart are no counts"
    calls, kept_apart = map(int, counts)
    if calls < _ASKED or kept_apart < _KEPT_APART or kept_apart > calls:
        return f"{calls} calls and {kept_apart} pages kept apart cannot be of a hook that was tried"
    return None
