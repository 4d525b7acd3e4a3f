"""What README.md and docs/ledger.md say of forged runs is in analysis/forged.yml, of which a report tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from attempts import VERDICTS

from analysis import report
from base.data import load_yaml

ROOT = Path(__file__).resolve().parents[2]
FOUND = load_yaml(ROOT / "analysis/forged.yml")


@pytest.mark.parametrize(("name", "commands"), [("README.md", 1), ("docs/ledger.md", len(FOUND))])
def test_the_numbers_are_told(name: str, commands: int) -> None:
    text = (ROOT / name).read_text()
    for one in report.forged()[:commands]:
        tries = f"of {one['tries']} tries of `{one['command']}`"
        assert f"{tries} {one['missed']} are missed and {one['known']} cannot" in text


def test_the_table_is_of_the_first_command() -> None:
    text = (ROOT / "docs/ledger.md").read_text()
    table = text.partition("<!-- what `make mutations` prints -->")[2].partition("<!-- the end of it -->")[0]
    first = FOUND[0]
    assert table.strip().startswith(f"`{first['command']}`:")
    assert table.strip().endswith(
        f"| **all** | {' | '.join(f'**{first[verdict]}**' for verdict in VERDICTS)} |"
    )


def test_each_command_has_each_verdict() -> None:
    assert [sorted(one) for one in FOUND] == [sorted(("command", *VERDICTS))] * len(FOUND)
