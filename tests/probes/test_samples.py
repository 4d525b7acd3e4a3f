"""Each probe's recorded output (record-samples.sh) is what the adapter takes."""

from pathlib import Path

import pytest

from analysis.adapters import probes

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests/probes/samples"


@pytest.mark.parametrize("probe", sorted(path.stem for path in (ROOT / "probes").glob("*.bt")))
def test_sample_is_read_whole(probe: str) -> None:
    sample = SAMPLES / f"{probe}.txt"
    lines = [line for line in sample.read_text().splitlines() if line]
    events, others = probes.read(sample)
    assert others == []
    assert events.height == len(lines)
    if probe != "frame":
        assert set(events["event"]) == {probe}
    begins = [int(line.split("\t")[1]) for line in lines]
    assert sorted(events["begin_ns"].to_list()) == sorted(begins)


def test_every_sample_has_a_probe() -> None:
    assert {path.stem for path in SAMPLES.glob("*.txt")} == {
        path.stem for path in (ROOT / "probes").glob("*.bt")
    }
