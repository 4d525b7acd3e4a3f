"""The kernel module that keeps what is written: its log is what the device was given, on each kernel."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.observers import Content, content
from base.paths import ROOT
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import kernel_profile
from commitpath.run import compressed_files
from images import artifacts
from images.cellrun import RunOutput
from model.block_operations import DISCARD, FLUSH, OP, WRITE

SCRIPT = ROOT / "tests/board/content-check.sh"


def read(file: Path) -> tuple[Content, int]:
    """A log as the board sent it, and how many commands found no room."""
    compressed_files.compress(file, file.with_suffix(".zst"))
    found, _, lost = content.read(file.with_suffix(".zst"))
    return found, lost


def overwritten(held: bytes, found: Content) -> bytes:
    """The first bytes of a device that gets these commands, in their order."""
    device = np.frombuffer(held, np.uint8).copy()
    for sector, sectors, begin in zip(found.sector, found.sectors, found.begin, strict=True):
        if begin >= 0 and sector * 512 < device.size:
            device[sector * 512 : (sector + sectors) * 512] = found.data[begin : begin + sectors * 512]
    return device.tobytes()


@pytest.mark.parametrize("kernel", ["6.12", "6.1"])
def test_it_keeps_what_is_written(kernel: str, on_board: Callable[..., RunOutput], tmp_path: Path) -> None:
    cell = {"DEVICE": "emmc-5.0", "KERNEL": kernel, "PROBES": "none"}
    module = artifacts.module(ROOT / "probes/content", kernel_profile(make_cell(cell)))
    assert module
    output = on_board(SCRIPT, {"content.ko.gz": gzip.compress(module.read_bytes())}, **cell)
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
    output.extract(tmp_path)
    raw = tmp_path / "raw"
    found, lost = read(raw / "whole.bin")
    assert lost == found.unkept == 0 and (np.diff(found.time) > 0).all()
    operation = found.flags & OP
    assert {WRITE, FLUSH, DISCARD} == set(operation.tolist())
    pattern, held = (raw / "pattern").read_bytes(), (raw / "held").read_bytes()
    assert (found.sectors[operation == WRITE]).sum() * 512 == 3 * 4096 + 131072 + 262144 + 32768
    assert overwritten(held, found) == held != overwritten(held, replace(found, data=found.data ^ 1))
    # each is as it was when it was written, whatever became of the page
    first = found.data[found.begin[found.sector == 512][0] :][:4096].tobytes()
    assert first == pattern[:4096] != held[262144:][:4096] == bytes(4096)
    full, lost = read(raw / "full.bin")
    assert (full.time.size, full.unkept, full.data.size, lost) == (70, 6, 4 << 20, 5)
    empty, lost = read(raw / "empty.bin")
    assert (empty.time.size, empty.data.size, lost) == (0, 0, 0)
