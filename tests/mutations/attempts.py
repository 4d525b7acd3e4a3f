"""A try: a sample is forged, analysed and judged."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import kinds
import moved
import numpy as np
from forged import Forged
from side import Absent

from base.data import load_yaml
from base.errors import BadInput

HERE = Path(__file__).resolve().parent
SAMPLES = {
    path.name.removesuffix(".tar.xz"): path for path in sorted(HERE.parent.glob("analysis/samples/*.tar.xz"))
}
VERDICTS = ("noticed", "unattributed", "harmless", "cannot be told", "missed")
ABSENT = "absent"


@dataclass(frozen=True)
class Try:
    """One forgery."""

    kind: str
    sample: str
    seed: int
    number: int

    @property
    def again(self) -> str:
        """The call that makes it again, among others."""
        return f"make mutations KIND={self.kind} SAMPLE={self.sample} SEED={self.seed} N={self.number + 1}"


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    tried: Try
    verdict: str
    why: str


@lru_cache
def known() -> dict[str, str]:
    """The kinds of which some forgeries cannot be refuted, and why."""
    found: dict[str, str] = load_yaml(HERE / "known.yml")
    return found


@lru_cache
def true(folder: Path) -> moved.Told:
    """What a sample says as it was recorded."""
    return moved.told(folder)


def unpack(samples: Iterable[str], folder: Path) -> None:
    """Unpack samples, each below its name."""
    for sample in samples:
        shutil.unpack_archive(SAMPLES[sample], folder / sample)


def attempt(one: Try, unpacked: Path) -> Outcome:
    """Forge a run and judge what the analysis says of it."""
    words = [one.seed, one.number, zlib.crc32(one.kind.encode()), zlib.crc32(one.sample.encode())]
    with tempfile.TemporaryDirectory(dir=unpacked) as name:
        folder = Path(shutil.copytree(unpacked / one.sample / "run", Path(name) / "run"))
        run = Forged(folder)
        try:
            kinds.find()[one.kind](run, np.random.default_rng(words))
        except Absent as error:
            return Outcome(one, ABSENT, str(error))
        run.write()
        try:
            verdict, why = judge(true(unpacked / one.sample / "run"), moved.told(folder))
            if verdict == "missed" and one.kind in known():
                verdict = "cannot be told"
            return Outcome(one, verdict, why)
        except BadInput as error:
            return Outcome(one, "noticed", str(error).removeprefix(f"{folder}/"))
        except Exception as error:  # whatever it is, it is no clear line
            return Outcome(one, "missed", f"the analysis ends with {error!r}")


def judge(true: moved.Told, forged: moved.Told) -> tuple[str, str]:
    """Return the verdict, and why."""
    if new := forged.reasons - true.reasons:
        return "noticed", sorted(new)[0]
    found = moved.moved(true, forged)
    if found.too_much:
        return "missed", found.where
    return ("unattributed" if found.unattributed > moved.BYTES_LIMIT else "harmless"), found.where
