"""What the board's CPU is busy with: `python tests/bench/guest_profile.py DEVICE=… [MODE=…]…`.

Counts every instruction that the guest executes from the first transaction to the last, with a
plugin of QEMU's emulator (guest/count.c) and no probe: exact, and the same each time. Takes the
variables of `make experiment`; with PROBES=none it prints the run's profile, else also what the
watched run executes more than its untraced twin, per transaction. 500 million instructions are a
virtual second (images/qemu.py).
"""

from __future__ import annotations

import bisect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from commitpath.boards.payload import prepared_variables  # noqa: E402
from commitpath.boards.prepared import prepared_board, virtual_board  # noqa: E402
from commitpath.cells.from_variables import make_cell  # noqa: E402
from commitpath.host.ansible import board  # noqa: E402
from images import programs, qemu  # noqa: E402
from model.cell import Cell  # noqa: E402

# Where arm64 Linux puts a position-independent executable under norandmaps.
EXECUTABLE = 0xAAAAAAAA0000
KERNEL = 0xFFFF << 48
FUNCTIONS = 30  # lines of a table

Symbols = tuple[list[int], list[str]]


def sorted_symbols(pairs: list[tuple[int, str]]) -> Symbols:
    pairs.sort()
    return [address for address, _ in pairs], [name for _, name in pairs]


def driver_symbols(driver: Path) -> Symbols:
    """The driver's functions, SQLite's among them, at their addresses on the board."""
    text = subprocess.run(["nm", driver], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^([0-9a-f]{16}) [tT] ([^$\n]+)$", text, re.MULTILINE)
    return sorted_symbols([(EXECUTABLE + int(address, 16), name) for address, name in found])


def kernel_symbols(cell: Cell, driver: Path) -> Symbols:
    """The kernel's functions and its modules', from a board prepared for this cell."""
    variables = prepared_variables(cell, driver, board("virtual"))
    with prepared_board(virtual_board(cell), variables) as (login, _, _):
        text = subprocess.run(
            login.ssh("cat", "/proc/kallsyms"), capture_output=True, text=True, check=True
        ).stdout
    found = re.findall(r"^([0-9a-f]{16}) [tTwW] (\S+)(?:\t\[(\S+)\])?$", text, re.MULTILINE)
    return sorted_symbols([(int(a, 16), f"{name} [{module or 'kernel'}]") for a, name, module in found])


def run_counted(variables: list[str], marks: Symbols, folder: Path) -> list[Path]:
    """`make experiment` under the plugin; a file for each board that it restored."""
    plugin = folder / "count.so"
    source = Path(__file__).parent / "guest" / "count.c"
    subprocess.run(["cc", "-std=c17", "-shared", "-fPIC", "-O2", "-o", plugin, source], check=True)
    address = {name: at for at, name in zip(*marks, strict=True)}
    begins = f"transaction={address['commitpath_tx_begin']:#x},phase={address['commitpath_phase']:#x}"
    wrapper = folder / qemu.QEMU
    wrapper.write_text(
        f'#!/bin/sh\nexec {shutil.which(qemu.QEMU)} "$@" -plugin {plugin},out={folder}/counts.$$,{begins}\n'
    )
    wrapper.chmod(0o755)
    # ours has no plugins
    path = f"{folder}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COMMITPATH_EMULATOR": "stock"}
    # once, so that what is counted is no board that is prepared or whose probes attach
    for _ in range(2):
        for old in folder.glob("counts.*"):
            old.unlink()
        subprocess.run(["make", "-C", ROOT, "experiment", *variables], env=environment, check=True)
    return list(folder.glob("counts.*"))


def load(path: Path, kernel: Symbols, driver: Symbols) -> tuple[int, Counter[str]]:
    """(transactions, instructions executed by `function [where]`)."""
    found: Counter[str] = Counter()
    transactions, *lines = path.read_text().splitlines()
    for line in lines:
        where, instructions, executions = line.split()
        address = int(where, 16)
        found[name_of(address, kernel, driver)] += int(instructions) * int(executions)
    return int(transactions), found


def name_of(address: int, kernel: Symbols, driver: Symbols) -> str:
    addresses, names = kernel if address >= KERNEL else driver
    place = bisect.bisect(addresses, address) - 1
    # nothing has functions of 128 KiB: what is that far off is no part of it
    if place < 0 or address - addresses[place] > 1 << 17:
        return "probes and their trampolines [BPF]" if address >= KERNEL else "shared libraries [user]"
    return names[place] if address >= KERNEL else f"{names[place]} [driver, SQLite]"


def table(title: str, counts: Counter[str], per: int) -> None:
    """Print what was executed by where, then by function."""
    total = sum(counts.values())
    where: Counter[str] = Counter()
    for name, count in counts.items():
        where[name[name.rindex("[") + 1 : -1]] += count
    print(f"\n{title}: {total / 1e6:.1f} million instructions, {total / per:.0f} a transaction\n")
    for what in (where, counts):
        print("| instructions | a transaction | of |\n|---|---|---|")
        for name, count in what.most_common(FUNCTIONS):
            print(f"| {count / total:.1%} | {count / per:.0f} | `{name}` |")
        print()


def main() -> None:
    variables = sys.argv[1:]
    if not variables or any("=" not in variable for variable in variables):
        sys.exit(__doc__)
    cell = make_cell(dict(variable.split("=", 1) for variable in variables))
    driver_file = programs.driver(cell)
    driver = driver_symbols(driver_file)
    with tempfile.TemporaryDirectory() as folder:
        runs = run_counted(variables, driver, Path(folder))
        kernel = kernel_symbols(cell, driver_file)
        loaded = [load(path, kernel, driver) for path in runs]
    # the watched run executes more than its twin
    counted = sorted(loaded, key=lambda one: one[1].total())
    transactions, least = counted[0]
    table("the run" if len(counted) == 1 else "the untraced twin", least, transactions)
    if len(counted) > 1:
        watched = counted[1][1]
        more = Counter({name: watched[name] - least[name] for name in watched | least})
        table("what watching adds", more, transactions)


if __name__ == "__main__":
    main()
