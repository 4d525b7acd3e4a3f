"""What an engine met in its recoveries is counted, where it tells."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from edited import recoveries

from analysis import documents, stages
from analysis.crash import fits, verdicts
from base.errors import BadInput

HERE = Path(__file__).parent


@pytest.mark.parametrize("sample", ["sample-crash", "sample-kills"])
def test_recoveries_are_counted(sample: str, tmp_path: Path) -> None:
    shutil.unpack_archive(HERE / f"{sample}.tar.xz", tmp_path)
    folder = tmp_path / "run"
    cuts = json.loads((folder / "cell.json").read_text())["cuts"]
    before = verdicts.summary(stages.build(folder))
    assert before is not None and "recoveries" not in before and "replayed" not in before
    host = json.loads((folder / "host.json").read_text())
    (folder / "host.json").write_text(json.dumps({k: v for k, v in host.items() if k != "raw_sha256"}))
    recoveries(folder, ("clean", 0), ("clean", 0), ("log used; WAL reset", 2))
    run = stages.build(folder)
    assert run.judged is not None and run.judged["replayed"].sum() == 2 * (cuts - 2)
    found = verdicts.summary(run)
    assert found is not None
    assert found["recoveries"] == {"log used; WAL reset": cuts - 2, "clean": 2}
    assert found["replayed"] == 2 * (cuts - 2)
    assert fits.contradictions(run.cell, {"crash": found}) == []
    too_many = found | {"recoveries": {"clean": cuts + 1}}
    assert fits.contradictions(run.cell, {"crash": too_many}) == [
        "crash: more recoveries were told of than databases opened"
    ]
    documents.check("summary", json.loads((HERE / "golden/summary.json").read_text()) | {"crash": found})
    for path in folder.glob("crash/*/raw/trials.csv"):
        path.write_text(path.read_text().replace(",replayed\n", ",again\n"))
    with pytest.raises(BadInput, match="the header is"):
        stages.build(folder)
