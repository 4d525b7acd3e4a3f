"""Each case of experiments/crash-cases comes out as its file says, and another outcome is told."""

from pathlib import Path

import commands
import pytest
import yaml

from commitpath.commands import crash_cases


@pytest.mark.parametrize("name", crash_cases.names())
def test_a_case_again(name: str) -> None:
    done = commands.call("crash-replay", f"CASE={name}", "CMD=exit 7")
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith(f"{name}: the power was cut ")
    assert done.stdout.endswith("; as the case has it\n")


def test_a_case_that_comes_out_another_way(tmp_path: Path) -> None:
    """EXTRA waits for the deletion of the journal, and nothing is lost."""
    content = yaml.safe_load((crash_cases.CASES / "delete-rolls-back-ext4.yml").read_text())
    content["cell"]["synchronous"] = "extra"
    path = tmp_path / "extra.yml"
    path.write_text(yaml.safe_dump(content))
    done = commands.call("crash-replay", f"CASE={path}", "CMD=true")
    assert done.returncode == 1 and not done.stdout
    told = done.stderr.splitlines()[-1]
    assert f"{path}: it came out another way: " in told and "verdict is 'whole', and was 'lost'" in told
