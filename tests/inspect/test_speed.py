"""200 000 block commands: a first picture within 2 s, and fluid frames."""

from collections.abc import Callable

import pytest
import speed
from conftest import Page


@pytest.mark.parametrize(("mode", "fs"), [("wal", "f2fs"), ("delete", "ext4-ordered")])
def test_is_fluid(page: Callable[..., Page], mode: str, fs: str) -> None:
    opened = page(mode=mode, fs=fs, commands=speed.COMMANDS)
    found = speed.measure(opened.browser, opened.folder / "inspect.html")
    print(speed.told(found))
    # CPU time: a test must not fail because the machine has something else to do
    assert found.first_cpu < 2000
    assert all(frames.cpu < 16.7 for frames in found.frames)
