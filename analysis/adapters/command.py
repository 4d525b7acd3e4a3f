"""raw/driver/ of a command (workloads/command/): what was run, when, how it ended and what it printed."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.adapters import drivertables
from analysis.adapters.driver import Driver
from analysis.run_files.reading import read_document

# of what it printed, what is shown
SHOWN_LINES = 20
# bytes of stdout and of stderr that are kept (workloads/command/printed.h)
KEPT = 16 << 20


def read(folder: Path) -> Driver:
    """Read it as a driver that ran the transactions that were noted. Raises BadInput."""
    config = read_document(folder / "config.json", "command_config")
    noted = pl.DataFrame(schema=drivertables.NOTED)
    if "transactions" in config:
        noted = drivertables.noted(folder / "transactions.csv")
    return Driver(
        config,
        noted,
        drivertables.phases(folder / "phases.csv", drivertables.PHASES),
        drivertables.device_stat(folder / "device_stat.csv"),
        None,
        None,
    )


def printed(folder: Path, name: str, wrote: int) -> str:
    """Return the last lines that are kept of what the command wrote to `name`, stdout or stderr; nothing if
    it wrote none. wrote: bytes in all; where these are more than are kept, a line says so."""
    path = folder / name
    content = path.read_bytes() if path.is_file() else b""
    lines = content.decode(errors="replace").splitlines()[-SHOWN_LINES:]
    if wrote > len(content):
        lines.append(f"[{name}: {wrote} bytes, of which the first {len(content)} are kept]")
    return "\n".join(lines)


def ended(config: dict[str, dict[str, int]]) -> str | None:
    """Return how the command failed, in words; None if it did not."""
    command = config["command"]
    if "signal" in command:
        return f"the command ended by signal {command['signal']}"
    if (status := command["exit_status"]) == 0:
        return None
    hint = {127: ": it was not found on the board", 126: ": it cannot be executed"}.get(status, "")
    if 128 < status <= 192:  # what a shell says of a command of its own that a signal ended
        hint = f": as a shell's when signal {status - 128} ended what it ran"
    return f"the command ended with exit status {status}{hint}"
