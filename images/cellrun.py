"""Pack a cell for a restored board, time its run, and read the tar of results that it sends."""

import contextlib
import io
import shutil
import subprocess
import tarfile
import threading
import time
from dataclasses import dataclass
from math import inf
from pathlib import Path

from base.errors import LabError
from images import board_tar, snapshot
from images.console import wait_for_line
from images.qemu import Machine

# A file of a payload that the board itself reads when it needs it (playbooks/board/run-cell.sh): until then
# it changes nothing there.
BEHIND = "behind"
DRIVER_STARTS = "run-cell: driver starts"
# Messages of the driver at both ends of the timed region (workloads/run.c).
TIMED_REGION = ("driver: the timed region begins", "driver: the timed region ends")


@dataclass
class RunOutput:
    """The tar that a board sent, and the host's time for it (wall seconds).

    timed: time.monotonic() at the ends of the driver's timed region that were seen.
    known: results of a known sequence, if its probes are checked in each run.
    snapshot: XXH3 of the restored memory, empty outside virtual time.
    """

    tar: bytes
    restore_seconds: float = 0.0
    start_seconds: float = 0.0
    run_seconds: float = 0.0
    timed: tuple[float, ...] = ()
    known: "RunOutput | None" = None
    snapshot: str = ""

    @property
    def failed(self) -> bool:
        """Return whether anything failed on the board."""
        return self.text("run-cell.status").strip() != "0"

    def text(self, name: str) -> str:
        """Return the text of a file of the tar; KeyError if missing."""
        return board_tar.text(self.tar, name)

    def tail(self, name: str) -> str:
        """Return the last line of a file, empty if it is empty or missing."""
        try:
            lines = self.text(name).strip().splitlines()
        except KeyError:
            return ""
        return lines[-1] if lines else ""

    def extract(self, folder: Path) -> None:
        """Unpack raw/ into a run's folder: files and folders only. Raises LabError."""
        with board_tar.opened(self.tar) as tar:
            for member in board_tar.raw_members(tar, self.tar):
                target = folder / member.name
                (target if member.isdir() else target.parent).mkdir(parents=True, exist_ok=True)
                if content := tar.extractfile(member):
                    with content, target.open("wb") as file:
                        shutil.copyfileobj(content, file)


class CellRun:
    """A cell running on a restored board. `begin` and all times are time.monotonic()."""

    def __init__(
        self, saved: Path, machine: Machine, process: subprocess.Popen[bytes], begin: float, limit: float
    ) -> None:
        self.saved, self.machine, self.process = saved, machine, process
        self.begin, self.restored, self.started = begin, time.monotonic(), 0.0
        self.limit = limit
        self.timed: list[float] = []
        self.faults: list[str | None] = []
        # hashing the memory takes a while, so it runs in parallel with the board
        self.checker = threading.Thread(target=lambda: self.faults.append(snapshot.ram_fault(saved)))
        self.listener = threading.Thread(target=self.listen)

    def listen(self) -> None:
        """Record when each end of the timed region is passed, until QEMU ends."""
        for line in TIMED_REGION:
            if wait_for_line(self.machine, line, inf, self.process) is not None:
                self.timed.append(time.monotonic())

    def wait_start(self) -> None:
        """Wait until the driver starts, then check the snapshot's memory in parallel."""
        wait_for_line(self.machine, DRIVER_STARTS, self.limit, self.process)
        self.started = time.monotonic()
        self.checker.start()
        self.listener.start()

    def over(self, seconds: float) -> bool:
        """Return whether the board has ended or reached its limit, waiting that many seconds at most."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None or time.monotonic() >= self.begin + self.limit

    def wait_end(self) -> RunOutput:
        """Wait until the board powers off. LabError when it dies, hangs or sends incomplete results."""
        try:
            self.process.wait(max(0, self.begin + self.limit - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            last = self.machine.serial_tail()
            raise LabError(f"no end of the run within {self.limit:.0f} s; its last line: {last}") from error
        end = time.monotonic()
        self.listener.join()
        self.checker.join()
        if self.faults != [None]:
            raise snapshot.SnapshotError(self.saved, str(self.faults[0]))
        return RunOutput(
            read_output(self.machine.folder / "out.tar", self.machine, self.process.returncode),
            restore_seconds=self.restored - self.begin,
            start_seconds=self.started - self.restored,
            run_seconds=end - self.restored,
            timed=tuple(self.timed),
            snapshot=snapshot.read_meta(self.saved)["ram_content_xxh3"],
        )


def pack_cell(word: str, payload: dict[str, bytes]) -> bytes:
    """Return the fw_cfg item for images/await-cell.sh: a word and a tar, and behind them the file BEHIND."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(payload.items()):
            if name == BEHIND:
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    packed = buffer.getvalue()
    return f"{word}\n{len(packed)}\n".encode() + packed + payload.get(BEHIND, b"")


def read_output(path: Path, machine: Machine, code: int) -> bytes:
    """Return the board's tar; LabError with the guest's last lines when it is incomplete."""
    content = path.read_bytes() if path.exists() else b""
    with contextlib.suppress(board_tar.BadTarError), board_tar.opened(content) as tar:
        # tar ends with two blocks of zeros; without them it was cut short
        if content.endswith(b"\0" * 1024) and "run-cell.status" in tar.getnames():
            return content
    raise LabError(
        f"the board died in the run (QEMU exit code {code}, {len(content)} bytes of results); "
        f"its last line: {machine.serial_tail()}"
    )
