"""Class Run: a run's recorded files, ledger, comparison with the bytes, and verdicts on crash trials."""

from dataclasses import dataclass

import polars as pl

from analysis.content import Content
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded


@dataclass(frozen=True, kw_only=True)
class Run(Recorded):
    """A run's recorded files, with the results of the further stages (analysis/stages.py)."""

    ledger: Ledger | None  # of a run that all of LEDGER_PROBES watched
    content: Content | None  # None: the bytes written were not kept
    judged: pl.DataFrame | None  # the verdicts on its trials (crash/verdicts.py); None without any
