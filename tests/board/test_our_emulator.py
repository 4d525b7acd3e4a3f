"""Our QEMU: it is built, its boards end, and make the same files as Debian's."""

import io
import tarfile
from dataclasses import replace

from commitpath.boards.payload import payload
from commitpath.boards.prepared import ensure_snapshot, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from images import emulator, programs, qemu

CELL = {"FS": "ext4-ordered", "MODE": "wal", "ROWS": "1000", "N": "20", "PROBES": "none"}
# A board that does not end after its power-off was one of 48.
RESTORES = 100
LIMIT_SECONDS = 60.0


def test_boards_end_and_are_the_same() -> None:
    ours = str(emulator.build() / qemu.QEMU)
    cell, entry = make_cell(CELL), ansible.board("virtual")
    saved = ensure_snapshot(cell, programs.driver(cell), entry)
    files, board = payload(cell), virtual_board(cell)

    def transactions(program: str) -> bytes:
        output = replace(board, program=program).run_cell(saved, files, LIMIT_SECONDS)
        with tarfile.open(fileobj=io.BytesIO(output.tar)) as tar:
            file = tar.extractfile("raw/driver/transactions.csv")
            assert file
            return file.read()

    found = {transactions(ours) for _ in range(RESTORES)}
    assert len(found) == 1
    # Debian's clock is late now and then
    assert found <= {transactions(qemu.QEMU) for _ in range(3)}
