"""Read raw/driver/ of a watched command (`make watch`): transactions, exit status, last lines of output."""

from pathlib import Path

import polars as pl

from analysis.adapters import drivertables
from analysis.adapters.driver import Driver
from analysis.run_files.reading import read_document

_SHOWN_LINES = 20
# bytes of stdout and of stderr that are kept (workloads/command/printed.h)
KEPT_BYTES = 16 << 20


def read(folder: Path) -> Driver:
    """Read the files as those of a driver that ran the noted transactions. Raises FileError."""
    config = read_document(folder / "config.json", "command_config")
    transactions = pl.DataFrame(schema=drivertables.NOTED)
    if "transactions" in config:
        transactions = drivertables.noted_transactions(folder / "transactions.csv")
    return Driver(
        config,
        transactions,
        drivertables.phases(folder / "phases.csv", drivertables.PHASES),
        drivertables.device_stat(folder / "device_stat.csv"),
        None,
        None,
    )


def last_lines(folder: Path, name: str, wrote: int) -> str:
    """Return the last kept lines of `name`, stdout or stderr.

    wrote: bytes that the command wrote. If fewer were kept, a line is added.
    """
    path = folder / name
    content = path.read_bytes() if path.is_file() else b""
    lines = content.decode(errors="replace").splitlines()[-_SHOWN_LINES:]
    if wrote > len(content):
        lines.append(f"[{name}: {wrote} bytes, only the first {len(content)} are kept]")
    return "\n".join(lines)


def failure(config: dict[str, dict[str, int]]) -> str | None:
    """Return how the command failed, in words; None if it succeeded."""
    command = config["command"]
    if "signal" in command:
        return f"the command ended by signal {command['signal']}"
    if (status := command["exit_status"]) == 0:
        return None
    hint = {127: ": not found on the board", 126: ": not executable"}.get(status, "")
    if 128 < status <= 192:  # the status of a shell after a signal ended its command
        hint = f": as a shell ends after signal {status - 128}"
    return f"the command ended with exit status {status}{hint}"
