"""Check a virtual board: one CPU, the requested clock, planned kernel modules, no reads of its root disk."""

import re

from analysis.adapters.board import Board
from analysis.instrument import cpu
from analysis.run import Run

_VECTORS = "bio_vectors"
# Kernel parameters of the virtual board under every clock (images/qemu.py); other boards lack them.
_COMMAND_LINE = "nokaslr norandmaps randomize_kstack_offset=off"
# ns per instruction, and 0.1 % for reading the clock, that occur in virtual time alone. 1 ns is left out: a
# real CPU may take that.
_COUNTED_NS, _READING = (2, 4, 8), 0.001


def modules_loaded(run: Run) -> list[str]:
    """Check that the run and its baseline run had the modules of the plan, hooked in the same way.

    Without bio_vectors, the block commands of a large sync depend on the board's memory. The module tests its
    hook when it is loaded; a board where the hook does not work is not provisioned.
    """
    planned = run.plan["board"].get("modules", []) if run.plan else []
    boards = {"": run.board, **({"the baseline run: ": run.twin.board} if run.twin else {})}
    reasons = [
        f"{who}raw/board/modules/{name}.txt is missing: the plan has that module"
        for who, board in boards.items()
        for name in planned
        if name not in board.modules
    ]
    if run.twin and not reasons and _hook(run.twin.board) != _hook(run.board):
        reasons.append(f"the baseline run: {_VECTORS} hooks the kernel differently than in the run")
    return reasons


def _hook(board: Board) -> list[str | None]:
    state = board.modules.get(_VECTORS, {})
    return [state.get(name) for name in ("function", "by")]


def cpus(run: Run) -> int:
    """Return the number of CPUs that the board reports."""
    return len(re.findall(r"^processor\s*:", run.board.texts.get("cpuinfo", ""), re.MULTILINE))


def has_one_cpu(run: Run) -> list[str]:
    """Check that a virtual board has exactly one CPU, as images/qemu.py builds it.

    Checks of threads rely on it, so it follows from the cell, not from what the run reports.
    """
    count = cpus(run)
    if not run.is_virtual or count == 1 or "cpuinfo" not in run.board.texts:
        return []
    return [f"raw/board/cpuinfo.txt has {count} processors; a virtual board has one"]


def no_disk_read(run: Run) -> list[str]:
    """Check that in virtual time the root disk was not read: host read latency is not deterministic."""
    reads = run.board.run.get("root_reads")
    if run.board.run.get("clock") != "virtual":
        return []
    if not isinstance(reads, int):
        return ["raw/run.json does not have the number of reads of the root disk"]
    return [f"the board read its root disk {reads} times in the run"] if reads else []


def runs_in_real_time(run: Run) -> list[str]:
    """Check that an emulated CPU of CLOCK=real or kvm does not count instructions."""
    is_emulated = _COMMAND_LINE in run.board.texts.get("cmdline", "")
    ns = cpu.measured(run.driver.config.get("clock", {}))
    if run.cell.clock == "virtual" or not is_emulated or ns is None:
        return []
    if not any(counted <= ns <= counted * (1 + _READING) for counted in _COUNTED_NS):
        return []
    return [f"an instruction took {ns} ns, as in virtual time alone; CLOCK is {run.cell.clock}"]
