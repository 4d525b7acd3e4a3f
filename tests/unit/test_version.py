"""The version is in one place, and a change of a stored format raises it."""

import json
import re

from base import identity
from base.data import load_yaml
from base.paths import ROOT
from base.version import version
from commitpath.command_line import help as help_text
from commitpath.database import store

# Hashes of the present version's formats, without comments and layout. A change of one takes a higher
# version (CITATION.cff; of schema.sql also store.VERSION) and a line in docs/reference/formats.md.
FORMATS = (
    "0.2.0",
    {"analysis/schema.yml": "5475562c0ddb", "commitpath/database/schema.sql": "ba74169b43d7"},
    8,
)


def test_what_says_the_version_reads_it_from_one_place() -> None:
    assert version() == load_yaml(ROOT / "CITATION.cff")["version"]
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version())
    assert help_text.text().startswith(f"commitpath {version()}: ")
    assert json.loads((ROOT / "tests/analysis/golden/summary.json").read_text())["version"] == version()


def test_a_change_of_a_format_raises_the_version() -> None:
    columns = re.sub(r"--.*|\s", "", store.SCHEMA.read_text())
    hashes = {
        "analysis/schema.yml": identity.digest(load_yaml(ROOT / "analysis/schema.yml"))[:12],
        "commitpath/database/schema.sql": identity.digest({"columns": columns})[:12],
    }
    assert (version(), hashes, store.VERSION) == FORMATS
