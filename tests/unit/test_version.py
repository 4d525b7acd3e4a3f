"""The version is in one place."""

import json
import re

from base.data import load_yaml
from base.paths import ROOT
from base.version import version
from commitpath.command_line import help as help_text


def test_what_says_the_version_reads_it_from_one_place() -> None:
    assert version() == load_yaml(ROOT / "CITATION.cff")["version"]
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version())
    assert help_text.text().startswith(f"commitpath {version()}: ")
    assert json.loads((ROOT / "tests/analysis/golden/summary.json").read_text())["version"] == version()
