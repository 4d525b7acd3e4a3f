"""The probes' clock: a kernel module's, which is the kernel's own."""

import re
from collections.abc import Callable
from pathlib import Path

from images.cellrun import RunOutput


def test_it_is_proved_and_used(on_board: Callable[..., RunOutput]) -> None:
    output = on_board(Path(__file__).with_name("probe-clock.sh"), FS="ext4")
    said = output.text("run-cell.log")
    assert output.text("run-cell.status").strip() == "0", said
    assert said.startswith("exact\n")
    assert int(re.findall(r"^held by ([0-9]+)$", said, re.M)[0]) > 0
    assert said.count("the probes' clock is wrong: ") == 2, said
    assert said.endswith("probe-clock: done\n"), said
